"""Approximate censored results by pseudo results with individual noise variances, by expectation propagation."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from agents.beliefs.posterior import DualPosterior

MOST_SWEEPS = 1000
TOLERANCE = 1e-6  # of moments in a sweep, relative to standard deviation and variance
LEAST_STEP, SHORTER, LONGER = 0.05, 0.6, 1.1  # step sizes; a step shrinks while changes grow, and vice versa
LEAST_NOISE = 1e-3  # in squared units of the targets; factors close to step functions would converge slowly
FARTHEST = 100.0  # thresholds farther from 0, in units of the targets, are clipped to this
LEAST_PRECISION = 1e-6  # of pseudo results, in inverse squared units of the targets; others are uninformative


class PseudoResults(NamedTuple):
    """Results that give a Gaussian process the same posterior as the bounds."""

    graphs: Tensor
    """`(m,)` int64. A graph may have two, in addition to its exact results."""
    values: Tensor
    """`(m,)` float64. In units of the targets."""
    noises: Tensor
    """`(m,)` float64. Noise variance of each."""


class Thresholds(NamedTuple):
    """Bounds on results, in units of the targets."""

    graphs: Tensor
    """`(m,)` int64."""
    values: Tensor
    """`(m,)` float64."""
    signs: Tensor
    """`(m,)` float64. 1 if the result lies above the value, -1 if it lies below."""
    noises: Tensor
    """`(m,)` float64. Noise variance of each result."""


def match_bounds(posterior: DualPosterior, thresholds: Thresholds) -> PseudoResults:
    """Return pseudo results for bounds in a Gaussian process, without uninformative ones, in O(m^3).

    Args:
        posterior: given all exact results.
        thresholds: m >= 1 bounds.

    Raises:
        ArithmeticError, LinAlgError: as `propagate_expectations`.
    """
    graphs, values, signs, noises = thresholds
    mean, covariance = posterior.mean_of(posterior.explained(graphs)), posterior.covariance(graphs)
    precision, shift = propagate_expectations(mean, covariance, values.clamp(-FARTHEST, FARTHEST), signs, noises)
    telling = precision > LEAST_PRECISION
    precision, shift = precision[telling], shift[telling]
    return PseudoResults(graphs[telling], shift / precision, 1 / precision)


def propagate_expectations(
    mean: Tensor, covariance: Tensor, thresholds: Tensor, signs: Tensor, noises: Tensor
) -> tuple[Tensor, Tensor]:
    """Approximate the posterior given that m noisy results lie above or below thresholds.

        N(f; mean, C) prod_i Phi(s_i (f_i - x_i) / sqrt(v_i))  ~  N(f; mean, C) prod_i N(y_i; f_i, n_i)

    Expectation propagation chooses y_i and n_i such that mean and variance of each f_i stay the same if the i-th factor
    on the right is replaced by the one on the left [Rasmussen & Williams 2006, Sec. 3.6]. All factors change at once,
    with damped steps while the changes grow. n_i is at least v_i: a bound is at most as informative as a result.

    Args:
        mean: `(m,)` float64. Means of f before the bounds.
        covariance: `(m, m)` float64. C, the covariance of f. A graph may have several bounds.
        thresholds: `(m,)` float64. x.
        signs: `(m,)` float64. s: 1 if the result lies above x, -1 if it lies below.
        noises: `(m,)` float64. v, noise variance of each result, raised to at least `LEAST_NOISE`.

    Returns:
        1 / n_i and y_i / n_i, `(m,)` float64 each: precisions, and precisions times values, both 0 without information.

    Raises:
        ArithmeticError: if the factors still change after `MOST_SWEEPS` sweeps.
        LinAlgError: if the covariance is not positive semi-definite in float64.
    """
    precision, shift = torch.zeros_like(mean), torch.zeros_like(mean)
    noises, step, before = noises.clamp(min=LEAST_NOISE), 1.0, math.inf
    for _ in range(MOST_SWEEPS):
        means, variances = _posterior(mean, covariance, precision, shift)
        cavity = 1 / (1 / variances - precision)  # variance of f_i without the i-th factor
        middle = cavity * (means / variances - shift)  # its mean
        total = noises + cavity
        z = signs * (middle - thresholds) / total.sqrt()
        ratio = math.sqrt(2 / math.pi) / torch.special.erfcx(-z / math.sqrt(2))  # phi(z) / Phi(z), also far out
        slope = signs * ratio / total.sqrt()  # of log Phi(z) by the mean
        bend = (ratio * (z + ratio)).clamp(0, 1) / total  # minus its second derivative
        away = (means - middle - cavity * slope).abs() / variances.sqrt()
        wider = (variances - cavity + cavity**2 * bend).abs() / variances
        change = torch.cat([away, wider]).max().item()
        if change < TOLERANCE:
            return precision, shift
        step = max(LEAST_STEP, SHORTER * step) if change > before else min(1.0, LONGER * step)
        before = change
        left = 1 - cavity * bend
        precision = precision + step * (bend / left - precision)
        shift = shift + step * ((slope + middle * bend) / left - shift)
    raise ArithmeticError(
        f"Expected expectation propagation to converge within {MOST_SWEEPS} sweeps. The last one changed a moment by "
        f"{change:.1e} of its scale."
    )


def _posterior(mean: Tensor, covariance: Tensor, precision: Tensor, shift: Tensor) -> tuple[Tensor, Tensor]:
    """Return means and variances of N(f; mean, covariance) prod_i exp(shift_i f_i - precision_i f_i^2 / 2)."""
    root = precision.sqrt()
    inner = root.unsqueeze(1) * covariance * root
    inner.diagonal().add_(1.0)
    solved = torch.linalg.solve_triangular(torch.linalg.cholesky(inner), root.unsqueeze(1) * covariance, upper=False)
    pulled = shift - precision * mean
    means = mean + covariance @ pulled - solved.T @ (solved @ pulled)
    variances = covariance.diagonal() - solved.square().sum(0)
    return means, variances.clamp(min=torch.finfo(mean.dtype).eps * covariance.diagonal().max().item())
