"""The likelihood of rewards and of results of sources, from which weights, noises and links are learnt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from agents.beliefs.posterior import Kernel
from agents.process.likelihood import (
    FARTHEST,
    LEAST_NOISE,
    MOST_NOISE,
    PRIOR_NOISE,
    PRIOR_NOISE_SPREAD,
    PRIOR_RESULTS,
    STARTS,
    Floats,
    Rows,
)
from agents.process.sources.links import PRIOR_RESIDUAL, PRIOR_SOURCE_NOISE, Links

MOST_RESULTS = 500  # weights are learnt from as many results: at most half of them of sources, if rewards are many
RESIDUAL_SPREAD = 1.0  # standard deviation of log u
LEAST_RESIDUAL, MOST_RESIDUAL = 1e-4, 1.0
CORRELATION_SPREAD, LARGEST = 0.5, 3.0  # standard deviation of atanh r, whose mean is 0; the largest
SLOPE_SPREAD, STEEPEST = 1.0, 3.0  # standard deviation of log s, whose mean is 0; the largest
STEP = 1e-3  # of central differences
CORRELATIONS = (-1.0, 0.3, 1.0)  # atanh r, of which the best is chosen to begin with


class Joined(NamedTuple):
    """Rewards, and results of sources."""

    rows: Rows
    """All of them; the noise variance of a row is that of its quantity divided by its count, and its own."""
    quantities: Tensor
    """`(q,)` int64. 0 for a reward, s for a result of the s-th source."""
    within: Sequence[float]
    """Sum of squares within graphs, for each quantity, in squared units of its targets."""


class LinkedLikelihood:
    """Marginal likelihood of rewards and of results of S sources, times weak priors.

        2 NLL = log|A| + y^T A^{-1} y + sum_a (t_a - q_a) log n_a + SS_a / n_a
        A = s s^T o B o (sum_p w_p K_p + u 1[x = x']) + diag(n_a / counts) + diag(noises)
        G = d 2 NLL / dA = A^{-1} - A^{-1} y y^T A^{-1}      [Rasmussen & Williams 2006, Eq. 5.9]

    s and B are those of `Links`. Weights and the noise of rewards have the priors that `MixtureLikelihood` gives them,
    and the total of weights one of its own. The prior of each correlation is symmetric around none.

    Args:
        kernels: `(P, q, q)` float64. Each kernel on the graphs of the rows.
        medians: P numbers. The weights before any result.
        spread: standard deviation of the logarithm of each weight.
        joined: all results.
    """

    def __init__(self, kernels: Tensor, medians: Sequence[float], spread: float, joined: Joined) -> None:
        self._kernels, self._medians, self._spread = kernels, torch.tensor(medians, dtype=torch.float64), spread
        self._joined, graphs = joined, joined.rows.graphs
        self._same = (graphs.unsqueeze(1) == graphs).double()
        self._apart = joined.quantities.unsqueeze(1) != joined.quantities
        self._total = float(self._medians.sum())
        self._sources = len(joined.within) - 1
        self._priors = np.array(
            [
                *[(0.0, spread)] * len(medians),
                (math.log(PRIOR_NOISE), PRIOR_NOISE_SPREAD),
                *[(math.log(PRIOR_SOURCE_NOISE), PRIOR_NOISE_SPREAD)] * self._sources,
                *[(0.0, CORRELATION_SPREAD)] * self._sources,
                *[(0.0, SLOPE_SPREAD)] * self._sources,
                (math.log(PRIOR_RESIDUAL), RESIDUAL_SPREAD),
            ]
        )
        ends = np.cumsum([0, len(medians), 1 + self._sources, self._sources, self._sources])
        self._weights, self._noises, self._atanh, self._slopes = map(slice, ends[:-1], ends[1:])

    def __call__(self, numbers: Floats) -> tuple[float, Floats]:
        """Return 2 NLL, up to a constant, and its gradient.

        Args:
            numbers: `(P + 3 S + 2,)`. log(w_p / median_p), logarithms of the S + 1 noises, atanh of the correlations,
                logarithms of the slopes, and log u.

        Raises:
            LinAlgError: if A is not positive definite in float64.
        """
        weights, noises, links = self.read(numbers)
        (_, counts, targets, own), quantities, within = self._joined
        along, scale = (
            torch.tensor([1.0, *column], dtype=torch.float64)[quantities]
            for column in (links.correlations, links.slopes)
        )
        of_structure = torch.tensordot(weights, self._kernels, dims=1)
        total = of_structure + links.residual * self._same
        scales = torch.outer(scale, scale)
        between = scales * torch.outer(along, along).where(self._apart, 1.0)
        matrix = between * total
        matrix.diagonal().add_(noises[quantities] / counts + own + torch.finfo(matrix.dtype).eps * matrix.trace())
        factor = torch.linalg.cholesky(matrix)
        inverse = torch.cholesky_inverse(factor)
        solved = inverse @ targets
        slope = inverse - torch.outer(solved, solved)
        by_total = slope * between
        by_along = 2 * ((slope * total * scales).where(self._apart, 0.0) @ along)
        by_scale = 2 * (by_total * total).sum(1)
        exact = counts.isfinite()
        value = (2 * factor.diagonal().log().sum() + targets @ solved).item()
        of_noises, of_correlations, of_slopes = [], [], []
        for number, (noise, squares) in enumerate(zip(noises.tolist(), within, strict=True)):
            mine = quantities == number
            repeats = float((counts[mine & exact] - 1).sum())
            value += repeats * math.log(noise) + squares / noise
            through = (slope.diagonal()[mine] / counts[mine]).sum().item()
            of_noises.append(noise * through + repeats - squares / noise)
            if number:
                of_slopes.append(by_scale[mine].sum().item())
                of_correlations.append(by_along[mine].sum().item() * (1 - links.correlations[number - 1] ** 2))
        share = float(weights.sum()) / self._total
        of_weights = weights * (self._kernels.flatten(1) @ by_total.flatten())
        of_weights += PRIOR_RESULTS * (weights / self._total) * (1 / share - 1 / share**2)
        of_residual = links.residual * (by_total * self._same).sum().item()
        means, spreads = self._priors.T
        away = (numbers - means) / spreads
        value += PRIOR_RESULTS * (math.log(share) + 1 / share) + float(away @ away)
        gradient = np.array([*of_weights.tolist(), *of_noises, *of_correlations, *of_slopes, of_residual])
        return value, gradient + 2 * away / spreads

    def read(self, numbers: Floats) -> tuple[Tensor, Tensor, Links]:
        """Return weights, `(P,)`, noises, `(S + 1,)`, and links that numbers stand for."""
        weights = self._medians * torch.from_numpy(numbers[self._weights]).exp()
        noises = torch.from_numpy(np.exp(numbers[self._noises]))
        correlations, slopes = np.tanh(numbers[self._atanh]).tolist(), np.exp(numbers[self._slopes]).tolist()
        links = Links(tuple(correlations), tuple(noises[1:].tolist()), tuple(slopes), math.exp(numbers[-1]))
        return weights, noises, links

    def fit(self, noise: float | None = None, weights_are_known: bool = False) -> tuple[list[float], float, Links]:
        """Minimise 2 NLL, and return weights, noise variance of a reward, and links.

        Args:
            noise: the noise variance of a reward if it is known, else None.
            weights_are_known: whether the weights are the medians of their priors.
        """
        farthest = 0.0 if weights_are_known else FARTHEST
        noises = (math.log(LEAST_NOISE), math.log(MOST_NOISE))
        bounds = [
            *[(-farthest, farthest)] * len(self._medians),
            noises if noise is None else (math.log(noise),) * 2,
            *[noises] * self._sources,
            *[(-LARGEST, LARGEST)] * self._sources,
            *[(-STEEPEST, STEEPEST)] * self._sources,
            (math.log(LEAST_RESIDUAL), math.log(MOST_RESIDUAL)),
        ]
        begins = []
        for start in STARTS if noise is None else (noise,):
            for along in CORRELATIONS:
                begin = self._priors[:, 0].copy()
                begin[self._noises] = math.log(max(start, STARTS[1]))
                begin[self._noises.start], begin[self._atanh] = math.log(start), along
                begins.append(begin)
        begin = min(begins, key=lambda numbers: self(numbers)[0])
        best = minimize(self, begin, jac=True, method="L-BFGS-B", bounds=bounds).x
        weights, learnt, links = self.read(best)
        errors = self._errors(best)[self._atanh]
        return weights.tolist(), noise or float(learnt[0]), replace(links, errors=tuple(errors.tolist()))

    def _errors(self, best: Floats) -> Floats:
        """Return the standard deviation of each number, by Laplace's approximation; that of the prior is the most.

        Sigma = 2 H^{-1},   H the matrix of second derivatives of 2 NLL, by central differences of its gradient
        """
        steps = STEP * np.eye(len(best))
        curvature = np.array([self(best + step)[1] - self(best - step)[1] for step in steps]) / (2 * STEP)
        values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
        spreads = self._priors[:, 1]
        least = 2 / np.square(spreads.max())
        variances = np.square(vectors) @ (2 / np.maximum(values, least))
        return np.asarray(np.minimum(np.sqrt(variances), spreads))


def learn_links(
    kernels: Sequence[Kernel],
    medians: Sequence[float],
    spread: float,
    rewards: tuple[Rows, float],
    sources: Sequence[tuple[Rows, float]],
    noise: float | None = None,
    weights_are_known: bool = False,
) -> tuple[list[float], float, Links]:
    """Return the weights, the noise of a reward and the links that maximise the likelihood of all results.

    Args:
        kernels: P kernels on all graphs.
        medians: P weights, before any result.
        spread: standard deviation of the logarithm of each weight.
        rewards: rows of the rewards, and the sum of their squares within graphs.
        sources: the same of each of S sources.
        noise: the noise variance of a reward if it is known, else None.
        weights_are_known: whether the weights are the medians of their priors.
    """
    total = sum(len(rows.graphs) for rows, _ in sources)
    parts = [rewards[0].some(max(MOST_RESULTS // 2, MOST_RESULTS - total))]
    most = max(1, (MOST_RESULTS - len(parts[0].graphs)) // len(sources))
    parts += [rows.some(most) for rows, _ in sources]
    within = [  # of the rows that are left, a share
        squares * len(part.graphs) / max(1, len(rows.graphs))
        for part, (rows, squares) in zip(parts, [rewards, *sources], strict=True)
    ]
    every = Rows(*(torch.cat(columns) for columns in zip(*parts, strict=True)))
    quantities = torch.arange(len(parts)).repeat_interleave(torch.tensor([len(part.graphs) for part in parts]))
    matrices = torch.stack([kernel.columns(every.graphs, every.graphs) for kernel in kernels])
    return LinkedLikelihood(matrices, medians, spread, Joined(every, quantities, within)).fit(noise, weights_are_known)
