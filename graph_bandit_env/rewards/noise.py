"""Noise of observed rewards. The named distributions are sub-Gaussian, with standard deviation `noise_std`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.checks import LARGEST_MEAN, check_choice

NoiseName = Literal["gaussian", "uniform", "rademacher"]
Noise = Callable[[np.random.Generator, float], float]

NOISES: tuple[NoiseName, ...] = get_args(NoiseName)
_STANDARD: dict[NoiseName, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "gaussian": lambda rng, count: rng.standard_normal(count),
    "uniform": lambda rng, count: rng.uniform(-math.sqrt(3), math.sqrt(3), count),
    "rademacher": lambda rng, count: rng.integers(2, size=count) * np.float64(2.0) - 1.0,
}


@dataclass(frozen=True)
class NamedNoise:
    """Noise of mean 0 that does not depend on the mean reward, and so can be drawn ahead."""

    name: NoiseName
    noise_std: float
    """sigma_epsilon, in reward units."""

    def __call__(self, rng: np.random.Generator, mean: float) -> float:
        """Draw the noise of one reward."""
        return float(self.block(rng, 1)[0])

    def block(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Draw the noise of the next `count` rewards, the same numbers as one call for each."""
        return self.noise_std * _STANDARD[self.name](rng, count)


def make_noise(noise: NoiseName | Noise, noise_std: float) -> Noise:
    """Return a function of (rng, mean reward) that draws the noise of a reward.

    Args:
        noise: "gaussian", "uniform" or "rademacher", each with mean 0 and standard deviation `noise_std`; or your own
            function, which `noise_std` does not affect.
        noise_std: sigma_epsilon, in reward units.

    Returns:
        The function.

    Raises:
        ValueError: if the name is unknown.
    """
    if callable(noise):
        return noise
    return NamedNoise(check_choice("noise", noise, NOISES), noise_std)


def draw_noise(noise: Noise, rng: np.random.Generator, mean: float) -> float:
    """Draw the noise of one reward.

    Raises:
        ValueError: if the noise is not a number from -`LARGEST_MEAN` to `LARGEST_MEAN`.
    """
    drawn: object = noise(rng, mean)
    try:
        value = math.nan if isinstance(drawn, (str, bytes)) else float(drawn)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):  # the last: an integer too large for a float
        value = math.nan
    if not abs(value) <= LARGEST_MEAN:  # written so that NaN fails too
        raise ValueError(
            f"Expected `noise` to return a finite number, from -{LARGEST_MEAN} to {LARGEST_MEAN}. Got {drawn!r}."
        )
    return value


class NoiseStream:
    """The noise of an instance, round by round.

    Args:
        noise: draws the noise of one reward.
        rng: the only source of randomness.
        common: draw noise for every graph in every round, so that it does not depend on what is played.
        num_graphs: K, or the most graphs of a round.
    """

    def __init__(self, noise: Noise, rng: np.random.Generator, common: bool, num_graphs: int) -> None:
        self._noise, self._rng, self._common, self._num_graphs = noise, rng, common, num_graphs

    def draw(self, means: NDArray[np.float64], action: int) -> float:
        """Draw the noise of this round's reward.

        Args:
            means: `(K,)` float64, mean rewards.
            action: the graph that is played.

        Returns:
            The noise to add to its mean reward.

        Raises:
            ValueError: if the noise is not a finite number.
        """
        if not self._common:
            return draw_noise(self._noise, self._rng, float(means[action]))
        if isinstance(self._noise, NamedNoise):
            return float(self._noise.block(self._rng, self._num_graphs)[action])
        return [draw_noise(self._noise, self._rng, mean) for mean in means.tolist()][action]

    def draw_ahead(self, rounds: int) -> NDArray[np.float64]:
        """Draw the noise of the next rounds, the same numbers as from `draw`; only for named noise.

        Returns:
            `(rounds, K)` float64 if the noise is common, else `(rounds, 1)`.

        Raises:
            TypeError: if the noise is a user's function.
        """
        if not isinstance(self._noise, NamedNoise):
            raise TypeError(f"Expected noise that has a name. Got {self._noise!r}, which may depend on what is played.")
        columns = self._num_graphs if self._common else 1
        return self._noise.block(self._rng, rounds * columns).reshape(rounds, columns)
