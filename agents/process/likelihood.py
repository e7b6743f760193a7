"""The likelihood of results under a weighted sum of kernels, from which weights and noise are learnt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from agents.beliefs.censoring import NO_PSEUDO_RESULTS, PseudoResults
from agents.beliefs.posterior import Kernel
from agents.beliefs.rewards import History, Targets

PRIOR_NOISE = 1e-2  # median of the log-normal prior of the noise variance, in squared units of the targets
PRIOR_NOISE_SPREAD = 3.0  # standard deviation of its logarithm: a factor of 20 either way is ordinary
PRIOR_RESULTS = 2.0  # number of results that the prior of the total variance is worth
LEAST_NOISE, MOST_NOISE = 1e-6, 4.0  # in squared units of standardised rewards
STARTS = (3e-3, 3e-2, 3e-1)  # noise variances from which the best is chosen to begin with
FARTHEST = 5.0  # a weight stays within a factor of e^5 of its prior
MOST_RESULTS = 500  # weights are learnt from as many results, evenly spaced in the set: the cost grows as q^3

Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """Results, each of a graph or of all rewards of it."""

    graphs: Tensor
    """`(q,)` int64."""
    counts: Tensor
    """`(q,)` float64. Number of rewards of each; infinite for a pseudo result."""
    targets: Tensor
    """`(q,)` float64. Their means."""
    noises: Tensor
    """`(q,)` float64. Noise variance of each besides the one that is learnt."""

    @staticmethod
    def of(history: History, targets: Targets, pseudo: PseudoResults, noisy: PseudoResults) -> Rows:
        """Return the rows of all results; see `MixtureLikelihood.of_history`."""
        seen = history.counts.nonzero().squeeze(1)
        once, endless = torch.ones_like(noisy.noises), torch.full_like(pseudo.noises, torch.inf)
        return Rows(
            torch.cat([seen, noisy.graphs, pseudo.graphs]),
            torch.cat([history.counts[seen].double(), once, endless]),
            torch.cat([targets.of(history.means[seen]), noisy.values, pseudo.values]),
            torch.cat([torch.zeros(len(seen), dtype=torch.float64), noisy.noises, pseudo.noises]),
        )

    def some(self, most: int) -> Rows:
        """Return at most so many of them, evenly spaced."""
        if len(self.graphs) <= most:
            return self
        chosen = torch.linspace(0, len(self.graphs) - 1, most, dtype=torch.float64).round().long()
        return Rows(*(column[chosen] for column in self))

    def squares(self, history: History, targets: Targets) -> float:
        """Return the sum of squares within graphs of the rewards, in squared units of the targets."""
        return float(history.squares[self.graphs[self.noises == 0]].sum()) / targets.unit**2


class MixtureLikelihood:
    """Marginal likelihood of all rewards, as a function of the weights and the noise variance, times weak priors.

        2 NLL = log|A| + y^T A^{-1} y + (t - q) log n + SS / n,   A = sum_p w_p K_p + n diag(1 / counts) + diag(noises)
        d 2 NLL / dA = A^{-1} - A^{-1} y y^T A^{-1}      [Rasmussen & Williams 2006, Eq. 5.9]

    The weights have independent log-normal priors, whose medians are given, and so has the noise variance. t is the
    number of rewards of q graphs, and SS the sum of squares within graphs. If shares are given, the prior of the total
    v = sum_p share_p w_p / median_p is worth `PRIOR_RESULTS` results of which it is 1: few that happen to be alike
    would make it small, and the agent sure of all graphs.

    Bounds enter as pseudo results (`match_bounds`), whose noises do not change with n: they have no counts. Where these
    are matched under the weights at the minimum, the slope by the weights is that of the evidence of expectation
    propagation, too [Rasmussen & Williams 2006, Eq. 5.27]. The noise is learnt from exact results.

    Results whose measuring noise is known have that noise and n: n is then what the structures leave unexplained.

    Args:
        kernels: `(P, q, q)` float64. Each kernel on the graphs seen.
        medians: P numbers. The weights before any result.
        spread: standard deviation of the logarithm of each weight.
        counts: `(q,)` float64. Number of rewards of each graph; infinite for a pseudo result.
        targets: `(q,)` float64. Their means y.
        within: SS, in squared units of the targets.
        noises: `(q,)` float64. Noise variance of each pseudo result, and of each result whose measuring noise is known;
            0 for the others; None: all are 0.
        shares: P numbers that add up to 1: the share of each kernel in the variance of the rewards before any result;
            None: the total has no prior of its own.
    """

    def __init__(
        self,
        kernels: Tensor,
        medians: Sequence[float],
        spread: float,
        counts: Tensor,
        targets: Tensor,
        within: float,
        noises: Tensor | None = None,
        shares: Sequence[float] | None = None,
    ) -> None:
        self._kernels, self._medians, self._spread = kernels, torch.tensor(medians, dtype=torch.float64), spread
        self._counts, self._targets, self._within = counts, targets, within
        self._noises = torch.zeros_like(targets) if noises is None else noises
        self._shares = None if shares is None else torch.tensor(shares, dtype=torch.float64)

    @classmethod
    def of_history(
        cls,
        kernels: Sequence[Kernel],
        medians: Sequence[float],
        spread: float,
        history: History,
        targets: Targets,
        pseudo: PseudoResults = NO_PSEUDO_RESULTS,
        noisy: PseudoResults = NO_PSEUDO_RESULTS,
        shares: Sequence[float] | None = None,
    ) -> MixtureLikelihood:
        """Return the likelihood of a history, and of other results, or of at most `MOST_RESULTS` rows of all.

        Args:
            kernels: the kernels of the set.
            medians: as above.
            spread: as above.
            history: results whose noise is n.
            targets: the scale on which rewards are modelled.
            pseudo: pseudo results that stand for bounds.
            noisy: results whose measuring noise is known, one for each graph, in units of the targets.
            shares: as above.
        """
        rows = Rows.of(history, targets, pseudo, noisy).some(MOST_RESULTS)
        within = torch.stack([kernel.columns(rows.graphs, rows.graphs) for kernel in kernels])
        squares = rows.squares(history, targets)
        return cls(within, medians, spread, rows.counts, rows.targets, squares, rows.noises, shares)

    def __call__(self, logarithms: Floats) -> tuple[float, Floats]:
        """Return 2 NLL, up to a constant, and its gradient.

        Args:
            logarithms: `(P + 1,)`. log(w_p / median_p), and the logarithm of the noise variance.

        Raises:
            LinAlgError: if A is not positive definite in float64.
        """
        shifts, noise = torch.from_numpy(logarithms[:-1]), math.exp(logarithms[-1])
        weights, exact = self._medians * shifts.exp(), self._counts[self._counts.isfinite()]
        matrix = torch.tensordot(weights, self._kernels, dims=1)
        rounding = torch.finfo(matrix.dtype).eps * matrix.trace()
        matrix.diagonal().add_(noise / self._counts + self._noises + rounding)
        factor = torch.linalg.cholesky(matrix)
        inverse = torch.cholesky_inverse(factor)
        solved = inverse @ self._targets
        slope = inverse - torch.outer(solved, solved)
        repeats = exact.sum().item() - len(exact)
        away = logarithms[-1] - math.log(PRIOR_NOISE)
        value = 2 * factor.diagonal().log().sum() + self._targets @ solved + shifts.square().sum() / self._spread**2
        value += repeats * logarithms[-1] + self._within / noise + (away / PRIOR_NOISE_SPREAD) ** 2
        of_weights = weights * (self._kernels.flatten(1) @ slope.flatten()) + 2 * shifts / self._spread**2
        if self._shares is not None:
            shares = self._shares * shifts.exp()
            total = shares.sum()
            value += PRIOR_RESULTS * (total.log() + 1 / total)
            of_weights += PRIOR_RESULTS * shares * (1 / total - 1 / total**2)
        of_noise = noise * (slope.diagonal() / self._counts).sum().item() + repeats - self._within / noise
        return value.item(), np.append(of_weights.numpy(), of_noise + 2 * away / PRIOR_NOISE_SPREAD**2)

    def fit(self, noise: float | None = None, weights_are_known: bool = False) -> tuple[list[float], float]:
        """Minimise 2 NLL, and return the weights and the noise variance.

        Args:
            noise: the noise variance if it is known, else None.
            weights_are_known: whether the weights are the medians of their priors.
        """
        if noise is not None and weights_are_known:
            return self._medians.tolist(), noise
        log_noise = None if noise is None else math.log(noise)
        starts = [math.log(start) for start in STARTS] if log_noise is None else [log_noise]
        begins = [np.append(np.zeros(len(self._medians)), start) for start in starts]
        begin = min(begins, key=lambda logarithms: self(logarithms)[0])
        farthest = 0.0 if weights_are_known else FARTHEST
        bounds = [(-farthest, farthest)] * len(self._medians)
        bounds.append((math.log(LEAST_NOISE), math.log(MOST_NOISE)) if log_noise is None else (log_noise, log_noise))
        best = minimize(self, begin, jac=True, method="L-BFGS-B", bounds=bounds).x
        weights = self._medians * torch.from_numpy(best[:-1]).exp()
        return weights.tolist(), noise or math.exp(best[-1])
