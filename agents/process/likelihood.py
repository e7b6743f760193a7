"""The likelihood of rewards and of results of sources, used to learn weights, noises and links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from agents.beliefs.rewards import History, Targets, stack, thin_out
from agents.process.kernels import Kernels
from agents.process.links import PRIOR_RESIDUAL, PRIOR_SOURCE_NOISE, Links

PRIOR_NOISE = 1e-2  # median of the log-normal prior of the noise variance, in squared units of the targets
PRIOR_NOISE_SPREAD = 3.0  # standard deviation of its logarithm: a factor of 20 either way is ordinary
PRIOR_RESULTS = 2.0  # weight of the prior of the total variance, in results
LEAST_NOISE, MOST_NOISE = 1e-6, 1e4  # in squared units: means of many rewards may differ far less than one reward
STARTS = (3e-3, 3e-2, 3e-1)  # initial noise variances, of which the best is chosen
FARTHEST = 5.0  # a weight stays within a factor of e^5 of its prior
MOST_RESULTS = 500  # evenly spaced, at most half of sources if rewards are many: the cost grows as q^3
RESIDUAL_SPREAD = 1.0  # standard deviation of log u
LEAST_RESIDUAL, MOST_RESIDUAL = 1e-4, 1.0
CORRELATION_SPREAD, LARGEST = 0.5, 3.0  # standard deviation of atanh r, whose mean is 0; the largest
SLOPE_SPREAD, STEEPEST = 1.0, 3.0  # standard deviation of log s, whose mean is 0; the largest
STEP = 1e-3  # of central differences
CORRELATIONS = (-1.0, 0.3, 1.0)  # initial values of atanh r, of which the best is chosen

Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """Results of one quantity, each row a result or all rewards of a graph."""

    graphs: Tensor
    """`(q,)` int64."""
    counts: Tensor
    """`(q,)` float64. Number of rewards of each, infinite for a pseudo result."""
    targets: Tensor
    """`(q,)` float64. Their means."""
    noises: Tensor
    """`(q,)` float64. Additional noise variance of each row, besides the learned one."""
    squares: Tensor
    """`(q,)` float64. Sum of squared deviations of the rewards of each from their mean, in squared units."""

    @staticmethod
    def of(history: History, targets: Targets) -> Rows:
        """Return a row for each graph with results of learned noise, on the scale of the targets."""
        seen = history.counts.nonzero().squeeze(1)
        values, squares = targets.of(history.means[seen]), history.squares[seen].double() / targets.unit**2
        return Rows(seen, history.counts[seen].double(), values, torch.zeros_like(values), squares)

    @staticmethod
    def of_single(graphs: Tensor, targets: Tensor, noises: Tensor, count: float = 1.0) -> Rows:
        """Return a row for each result. Arguments are the columns, with one count for all."""
        return Rows(graphs, torch.full_like(targets, count), targets, noises, torch.zeros_like(targets))


class Likelihood:
    """Marginal likelihood of rewards and of results of S >= 0 sources, times weak priors.

        2 NLL = log|A| + y^T A^{-1} y + sum_a (t_a - q_a) log n_a + SS_a / n_a
        A = s s^T o B o (sum_p w_p K_p + u 1[x = x']) + diag(n_a / counts) + diag(noises)
        G = d 2 NLL / dA = A^{-1} - A^{-1} y y^T A^{-1}      [Rasmussen & Williams 2006, Eq. 5.9]

    s, B and u are those of `Links`. Without sources B = 1 and u = 0. t_a is the number of results of q_a graphs of a
    quantity, and SS_a the sum of squares within graphs. The weights have independent log-normal priors with given
    medians, and so have the noises. The prior of each correlation is symmetric around 0. If shares are given, the prior
    of the total v = sum_p share_p w_p / median_p is worth `PRIOR_RESULTS` results with total 1. Otherwise a few similar
    results would make the total small, and the agent overconfident about all graphs.

    Bounds enter as pseudo results (`match_bounds`), whose noises do not change with n: they have no counts. If these
    are matched under the weights at the minimum, the slope by the weights equals that of the evidence of expectation
    propagation [Rasmussen & Williams 2006, Eq. 5.27]. The noise is learned from exact results. Results with known
    measurement noise have that noise plus n, which is then the variance that the structures leave unexplained.

    Args:
        kernels: `(P, q, q)` float64. Each kernel on the graphs of all rows.
        medians: P numbers. The weights before any result.
        spread: standard deviation of the logarithm of each weight.
        rows: the rows of the rewards, and then those of each source.
        shares: P numbers that add up to 1: the share of each kernel in the prior variance of the rewards. None: the
            total has no separate prior.
        ties: `(P, r)` float64. Weights that are learned together: log(w_p / median_p) is `spread` times row p times r
            numbers with standard normal priors. None: independent weights.
    """

    def __init__(
        self,
        kernels: Tensor,
        medians: Sequence[float],
        spread: float,
        rows: Sequence[Rows],
        shares: Sequence[float] | None = None,
        ties: Tensor | None = None,
    ) -> None:
        self._ties = None if ties is None else spread * ties
        spread, known = (spread, len(medians)) if ties is None else (1.0, ties.shape[1])
        self._kernels, self._medians = kernels, torch.tensor(medians, dtype=torch.float64)
        self._shares = None if shares is None else torch.tensor(shares, dtype=torch.float64)
        self._rows = stack(rows)
        sizes = torch.tensor([len(part.graphs) for part in rows])
        self._quantities = torch.arange(len(rows)).repeat_interleave(sizes)
        self._repeats = [float((part.counts[part.counts.isfinite()] - 1).sum()) for part in rows]
        self._squares = [float(part.squares.sum()) for part in rows]
        self._sources = len(rows) - 1
        self._same = (self._rows.graphs.unsqueeze(1) == self._rows.graphs).double()
        self._apart = self._quantities.unsqueeze(1) != self._quantities
        noises, residuals = np.log([LEAST_NOISE, MOST_NOISE]), np.log([LEAST_RESIDUAL, MOST_RESIDUAL])
        numbers = [  # mean and standard deviation of the prior, minimum, and maximum
            *[(0.0, spread, -FARTHEST, FARTHEST)] * known,
            (math.log(PRIOR_NOISE), PRIOR_NOISE_SPREAD, *noises),
            *[(math.log(PRIOR_SOURCE_NOISE), PRIOR_NOISE_SPREAD, *noises)] * self._sources,
            *[(0.0, CORRELATION_SPREAD, -LARGEST, LARGEST)] * self._sources,
            *[(0.0, SLOPE_SPREAD, -STEEPEST, STEEPEST)] * self._sources,
            *[(math.log(PRIOR_RESIDUAL), RESIDUAL_SPREAD, *residuals)] * (self._sources > 0),
        ]
        self._priors, self._limits = np.hsplit(np.array(numbers), 2)
        ends = np.cumsum([0, known, 1 + self._sources, self._sources, self._sources])
        self._weights, self._noises, self._atanh, self._slopes = map(slice, ends[:-1], ends[1:])

    def __call__(self, numbers: Floats) -> tuple[float, Floats]:
        """Return 2 NLL, up to a constant, and its gradient.

        Args:
            numbers: `(P + 3 S + 1,)`, with ties `(r + 3 S + 1,)`, or one more with sources. log(w_p / median_p), or the
                r numbers of ties; logarithms of the S + 1 noises, atanh of the correlations, logarithms of the slopes,
                and log u.

        Raises:
            LinAlgError: if A is not positive definite in float64.
        """
        weights, noises, links = self.read(numbers)
        (_, counts, targets, own, _), quantities = self._rows, self._quantities
        along, scale = (
            torch.tensor([1.0, *column], dtype=torch.float64)[quantities]
            for column in (links.correlations, links.slopes)
        )
        total = torch.tensordot(weights, self._kernels, dims=1) + links.residual * self._same
        scales = torch.outer(scale, scale)
        between = scales * torch.outer(along, along).where(self._apart, 1.0)
        matrix = between * total
        matrix.diagonal().add_(noises[quantities] / counts + own + torch.finfo(matrix.dtype).eps * matrix.trace())
        factor = torch.linalg.cholesky(matrix)
        inverse = torch.cholesky_inverse(factor)
        solved = inverse @ targets
        slope = inverse - torch.outer(solved, solved)
        by_total = slope * between
        of_weights = weights * (self._kernels.flatten(1) @ by_total.flatten())
        value = (2 * factor.diagonal().log().sum() + targets @ solved).item()
        of_noises = torch.zeros_like(noises).index_add_(0, quantities, slope.diagonal() / counts) * noises
        for k, (repeats, squares, noise) in enumerate(zip(self._repeats, self._squares, noises.tolist(), strict=True)):
            value += repeats * math.log(noise) + squares / noise
            of_noises[k] += repeats - squares / noise
        if self._shares is not None:
            shares = self._shares * (weights / self._medians)
            share = shares.sum()
            value += PRIOR_RESULTS * (share.log() + 1 / share).item()
            of_weights += PRIOR_RESULTS * shares * (1 / share - 1 / share**2)
        if self._ties is not None:
            of_weights = self._ties.T @ of_weights
        means, spreads = self._priors.T
        away = (numbers - means) / spreads
        gradient = [*of_weights.tolist(), *of_noises.tolist()]
        if self._sources:
            by_along = 2 * ((slope * total * scales).where(self._apart, 0.0) @ along)
            by_links = torch.stack([by_along, 2 * (by_total * total).sum(1)])
            of_links = by_links.new_zeros(2, self._sources + 1).index_add_(1, quantities, by_links)
            gradient += (of_links[0, 1:] * (1 - torch.tensor(links.correlations).double() ** 2)).tolist()
            gradient += [*of_links[1, 1:].tolist(), links.residual * (by_total * self._same).sum().item()]
        return value + float(away @ away), np.array(gradient) + 2 * away / spreads

    def read(self, numbers: Floats) -> tuple[Tensor, Tensor, Links]:
        """Return weights, `(P,)`, noises, `(S + 1,)`, and links from their numbers."""
        own = torch.from_numpy(numbers[self._weights])
        weights = self._medians * (own if self._ties is None else self._ties @ own).exp()
        noises = torch.from_numpy(np.exp(numbers[self._noises]))
        correlations, slopes = np.tanh(numbers[self._atanh]).tolist(), np.exp(numbers[self._slopes]).tolist()
        residual = math.exp(numbers[-1]) if self._sources else 0.0
        return weights, noises, Links(tuple(correlations), tuple(noises[1:].tolist()), tuple(slopes), residual)

    def fit(
        self, noise: float | None = None, weights_are_known: bool = False
    ) -> tuple[list[float], float, Links | None]:
        """Minimise 2 NLL, and return weights, noise variance of a reward, and links, or None without sources.

        Args:
            noise: known noise variance of a reward, or None.
            weights_are_known: fix the weights at the medians of their priors.
        """
        if noise is not None and weights_are_known and not self._sources:
            return self._medians.tolist(), noise, None
        bounds = self._limits.copy()
        if weights_are_known:
            bounds[self._weights] = 0.0
        if noise is not None:
            bounds[self._noises.start] = math.log(noise)
        begins = []
        for start in STARTS if noise is None else (noise,):
            for along in CORRELATIONS if self._sources else (0.0,):
                begin = self._priors[:, 0].copy()
                begin[self._noises] = math.log(max(start, STARTS[1]))
                begin[self._noises.start], begin[self._atanh] = math.log(start), along
                begins.append(begin)
        begin = min(begins, key=lambda numbers: self(numbers)[0])
        best = minimize(self, begin, jac=True, method="L-BFGS-B", bounds=bounds).x
        weights, learnt, links = self.read(best)
        if self._sources:
            links = replace(links, errors=tuple(self._errors(best)[self._atanh].tolist()))
        return weights.tolist(), noise or float(learnt[0]), links if self._sources else None

    def _errors(self, best: Floats) -> Floats:
        """Return the standard deviation of each number, by Laplace's approximation, at most that of the prior.

        Sigma = 2 H^{-1},   H the matrix of second derivatives of 2 NLL, by central differences of its gradient
        """
        steps = STEP * np.eye(len(best))
        curvature = np.array([self(best + step)[1] - self(best - step)[1] for step in steps]) / (2 * STEP)
        values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
        spreads = self._priors[:, 1]
        least = 2 / np.square(spreads.max())
        variances = np.square(vectors) @ (2 / np.maximum(values, least))
        return np.asarray(np.minimum(np.sqrt(variances), spreads))


def likelihood_of(
    kernels: Kernels,
    medians: Sequence[float],
    spread: float,
    rewards: Rows,
    sources: Sequence[Rows] = (),
    shares: Sequence[float] | None = None,
    ties: Tensor | None = None,
) -> Likelihood:
    """Return the likelihood of at most `MOST_RESULTS` rows of all results. Arguments are those of `Likelihood`."""
    total = sum(len(rows.graphs) for rows in sources)
    parts = [thin_out(rewards, max(MOST_RESULTS // 2, MOST_RESULTS - total))]
    most = max(1, (MOST_RESULTS - len(parts[0].graphs)) // max(1, len(sources)))
    parts += [thin_out(rows, most) for rows in sources]
    graphs = torch.cat([part.graphs for part in parts])
    return Likelihood(kernels.columns(graphs, graphs).transpose(0, 1), medians, spread, parts, shares, ties)
