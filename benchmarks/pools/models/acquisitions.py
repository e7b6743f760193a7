"""Score molecules by predicted mean and standard deviation; those with the largest scores are measured next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.stats import norm

from benchmarks.pools.screening import Floats


class Acquisition(Protocol):
    """A score for each of K molecules."""

    def __call__(self, mean: Floats, std: Floats, best: float, generator: np.random.Generator) -> Floats:
        """Return the scores.

        Args:
            mean: `(K,)`, in units of the values.
            std: `(K,)`, standard deviations without the noise of a measurement.
            best: largest value measured.
            generator: generator of random draws.

        Returns:
            `(K,)`.
        """


def greedy(mean: Floats, std: Floats, best: float, generator: np.random.Generator) -> Floats:
    """Return the mean."""
    return mean


def thompson_sampling(mean: Floats, std: Floats, best: float, generator: np.random.Generator) -> Floats:
    """Draw the score of each molecule independently from N(mean, std^2)."""
    return generator.normal(mean, std)


@dataclass(frozen=True)
class UpperConfidenceBound:
    """mean + scale std."""

    scale: float
    """Multiplies the standard deviation."""

    def __post_init__(self) -> None:
        if not 0 <= self.scale < np.inf:
            raise ValueError(f"Expected `scale` to be finite and >= 0. Got {self.scale!r}.")

    def __call__(self, mean: Floats, std: Floats, best: float, generator: np.random.Generator) -> Floats:
        """Return the upper confidence bounds."""
        return mean + self.scale * std


def expected_improvement(mean: Floats, std: Floats, best: float, generator: np.random.Generator) -> Floats:
    """Compute by how much each molecule is expected to exceed the best.

    EI = E max(f - best, 0) = (mean - best) Phi(z) + std phi(z),  z = (mean - best) / std    [Jones et al. 1998]
    """
    z = np.divide(mean - best, std, out=np.zeros_like(mean), where=std > 0)
    improvement = (mean - best) * norm.cdf(z) + std * norm.pdf(z)
    return np.where(std > 0, improvement, np.maximum(mean - best, 0.0))
