"""Noise of observed rewards. The named distributions are sub-Gaussian, with standard deviation `noise_std`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.checks import LARGEST_MEAN, check_number, to_number

NoiseName = Literal["gaussian", "uniform", "rademacher"]
NoiseDraws = Literal["round", "graph"]
NoiseFunction = Callable[[np.random.Generator, float], float]

_STANDARD: dict[NoiseName, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "gaussian": lambda rng, count: rng.standard_normal(count),
    "uniform": lambda rng, count: rng.uniform(-math.sqrt(3), math.sqrt(3), count),
    "rademacher": lambda rng, count: rng.integers(2, size=count) * np.float64(2.0) - 1.0,
}


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of the rewards of each round."""

    noise: NoiseName | NoiseFunction
    """A name for noise of mean 0 independent of the mean reward, or a user's function, which `noise_std` does not
    affect."""
    noise_std: NDArray[np.float64]
    """sigma_epsilon, in reward units: `()`, or `(K,)` for a separate value of each graph."""
    draws: NoiseDraws
    """"round" for one draw per round, regardless of the played graph, or "graph" for one per graph and round."""
    num_graphs: int
    """K, or the maximum number of graphs of a round."""

    def draw(self, rng: np.random.Generator, means: NDArray[np.float64], action: int) -> float:
        """Draw the noise of a round's reward.

        Args:
            rng: the only source of randomness.
            means: `(K,)` float64, mean rewards.
            action: the played graph.

        Returns:
            The noise to add to its mean reward.

        Raises:
            ValueError: if the noise is not a number from -`LARGEST_MEAN` to `LARGEST_MEAN`.
        """
        if not callable(self.noise):
            drawn = _STANDARD[self.noise](rng, self.num_graphs if self.draws == "graph" else 1)
            deviation = self.noise_std[action] if self.noise_std.ndim else self.noise_std
            return float(deviation * drawn[action if self.draws == "graph" else 0])
        if self.draws == "round":
            return to_number("noise", self.noise(rng, float(means[action])))
        return [to_number("noise", self.noise(rng, mean)) for mean in means.tolist()][action]


def check_deviations(noise_std: ArrayLike, num_graphs: int | None) -> NDArray[np.float64]:
    """Return `noise_std` as float64, `()` or `(K,)`, or raise a ValueError. K is None if the graphs change."""
    given = np.asarray(noise_std)
    if given.shape not in ((), (num_graphs,)):
        raise ValueError(f"Expected `noise_std` to be a number, or one for each graph that stays. Got {given.shape}.")
    checked = [check_number("noise_std", deviation, 0.0, LARGEST_MEAN) for deviation in given.flat]
    return np.array(checked, np.float64).reshape(np.shape(given))
