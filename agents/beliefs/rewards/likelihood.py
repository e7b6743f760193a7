"""Fit output scale and noise variance of a Gaussian process by marginal likelihood, from sufficient statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from agents.beliefs.rewards.history import History
from agents.beliefs.rewards.targets import Targets

BOUNDS = (1e-8, 1e4)  # of scale and noise, in squared units of standardised rewards
PRIOR_ROUNDS = 2.0  # number of observations that the prior of the output scale is worth
PRIOR_NOISE = 1e-2  # median of the log-normal prior of the noise variance
PRIOR_NOISE_SPREAD = 3.0  # standard deviation of its logarithm: a factor of 20 either way is ordinary


@dataclass(frozen=True)
class Hyperparameters:
    """Output scale and noise variance, both positive and in squared units of the targets."""

    scale: float
    """Output scale s: the prior covariance is s K."""
    noise: float
    """Noise variance."""


class MarginalLikelihood:
    """Marginal likelihood of all rewards under a Gaussian process, in coordinates where one evaluation costs O(K).

        2 NLL = sum_i [log(s e_i + n) + u_i^2 / (s e_i + n)] + (t - q) log n + SS / n + constant

    Here e and V are the eigenvalues and eigenvectors of D K D with D = diag(sqrt(counts)) on the q graphs seen,
    u = V^T D ybar, and SS is the sum of squares within graphs. No t x t matrix is formed. Where earlier rewards count
    less, as weights w_i in counts, means and SS, t is the sum of the weights: each reward's density is then raised to
    the power w_i, and the posterior is the one where its noise variance is n / w_i.

    Args:
        kernel: `(q, q)` float64. Kernel of the graphs seen, in the order of the set.
        history: the rewards observed.
        targets: the scale on which the rewards are modelled; deviations within a graph are divided by its unit.
    """

    def __init__(self, kernel: Tensor, history: History, targets: Targets) -> None:
        seen = history.counts > 0
        root = history.counts[seen].double().sqrt()
        values, vectors = torch.linalg.eigh(kernel * torch.outer(root, root))
        self._eigenvalues: NDArray[np.float64] = values.clamp(min=0).numpy()
        self._coordinates: NDArray[np.float64] = (vectors.T @ (root * targets.of(history.means[seen]))).numpy()
        self._repeats = history.rounds - len(values)
        self._within = float(history.squares.sum()) / targets.unit**2

    @classmethod
    def of_coordinates(
        cls, eigenvalues: NDArray[np.float64], coordinates: NDArray[np.float64], repeats: float, within: float
    ) -> MarginalLikelihood:
        """Make it where e, u, t - q and SS are known.

        Args:
            eigenvalues: e, `(q,)` float64, at least 0.
            coordinates: u, `(q,)` float64; 0 where the eigenvalue is 0.
            repeats: t - q; below 0 if there are fewer rounds than coordinates.
            within: SS, in squared units of the targets.
        """
        likelihood = cls.__new__(cls)
        likelihood._eigenvalues, likelihood._coordinates = eigenvalues, coordinates
        likelihood._repeats, likelihood._within = repeats, within
        return likelihood

    def twice_negative_log(self, scale: float, noise: float) -> float:
        """Return 2 NLL, up to a constant."""
        total = scale * self._eigenvalues + noise
        between = np.log(total) + self._coordinates**2 / total
        return float(between.sum() + self._repeats * math.log(noise) + self._within / noise)

    def fit_noise(self, ridge: float) -> float:
        """Estimate the noise variance n if the prior covariance is (n / ridge) K, as for tangent features.

            n = (sum_i u_i^2 / (e_i / ridge + 1) + SS + P ridge) / (t + P),   P = `PRIOR_ROUNDS`

        The prior is worth P rewards with noise variance `ridge`, at which the prior covariance is K. Without it, a
        single reward or equal rewards would give a noise of 0.
        """
        between = float((self._coordinates**2 / (self._eigenvalues / ridge + 1)).sum())
        rounds = len(self._eigenvalues) + self._repeats
        return (between + self._within + PRIOR_ROUNDS * ridge) / (rounds + PRIOR_ROUNDS)

    def fit(self, scale: float | None, noise: float | None, prior_scale: float) -> Hyperparameters:
        """Maximise the likelihood times two weak priors, which matter only in the first rounds.

        The prior of s is worth `PRIOR_ROUNDS` observations at `prior_scale`; that of n is log-normal with median
        `PRIOR_NOISE`.

        Args:
            scale: s if it is known, else None.
            noise: n if it is known, else None.
            prior_scale: the value of s before any observation.

        Returns:
            s and n.
        """
        if scale is not None and noise is not None:
            return Hyperparameters(scale, noise)
        low, high = map(math.log, BOUNDS)

        def objective(logarithms: NDArray[np.float64]) -> float:
            s, n = _fill(logarithms, scale, noise)
            prior = PRIOR_ROUNDS * (math.log(s) + prior_scale / s) if scale is None else 0.0
            if noise is None:
                prior += (math.log(n / PRIOR_NOISE) / PRIOR_NOISE_SPREAD) ** 2
            return self.twice_negative_log(s, n) + prior

        grid = np.linspace(low, high, 15)
        free = (scale is None) + (noise is None)
        starts = np.stack(np.meshgrid(*[grid] * free, indexing="ij"), axis=-1).reshape(-1, free)
        best = min(starts, key=objective)
        optimum = minimize(objective, best, method="L-BFGS-B", bounds=[(low, high)] * free)
        return Hyperparameters(*_fill(optimum.x if optimum.fun < objective(best) else best, scale, noise))


def _fill(logarithms: NDArray[np.float64], scale: float | None, noise: float | None) -> tuple[float, float]:
    """Return s and n: those that are known, and the others from the vector of their logarithms."""
    values = iter(np.exp(logarithms).tolist())
    return next(values) if scale is None else scale, next(values) if noise is None else noise
