"""Mean rewards that change from round to round."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.rewards.reward_models import FreshMeans

DriftName = Literal["walk", "jump"]
DRIFT_NAMES: tuple[DriftName, ...] = get_args(DriftName)
DRIFT_RATE = 0.01


class Drift(Protocol):
    """Changes mean rewards from round to round; those d rounds apart have the correlation (1 - rate)^d."""

    def __call__(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the `(K,)` means of the next round; those of this one stay as they are."""


@dataclass(frozen=True, eq=False)
class Walk:
    """Means that take a small step in each round: a stationary autoregressive process of functions.

    mu_{t+1} = a mu_t + sqrt(1 - a^2) g_t,   a = 1 - rate,   g_t a fresh draw      [Bogunovic et al. 2016]
    """

    fresh: FreshMeans
    rate: float
    rng: np.random.Generator

    def __call__(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the `(K,)` means of the next round."""
        step = math.sqrt(self.rate * (2 - self.rate))  # 1 - a^2 without its loss of digits
        return (1 - self.rate) * means + step * self.fresh(self.rng)


@dataclass(frozen=True, eq=False)
class Jump:
    """Means that stay for a while, and are then all replaced; an agent does not know when.

    mu_{t+1} = g_t with probability rate, else mu_t;   g_t a fresh draw      [Mellor & Shapiro 2013]
    """

    fresh: FreshMeans
    rate: float
    rng: np.random.Generator

    def __call__(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the `(K,)` means of the next round."""
        return self.fresh(self.rng) if self.rng.random() < self.rate else means


def make_drift(name: DriftName, fresh: FreshMeans, rate: float, rng: np.random.Generator) -> Drift:
    """Return a drift.

    Args:
        name: "walk" or "jump".
        fresh: draws mean rewards.
        rate: in (0, 1].
        rng: the only source of randomness.
    """
    return Walk(fresh, rate, rng) if name == "walk" else Jump(fresh, rate, rng)
