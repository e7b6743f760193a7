"""Noise of observed rewards. The named distributions are sub-Gaussian, with standard deviation `noise_std`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.checks import LARGEST_MEAN, check_choice, check_number

NoiseName = Literal["gaussian", "uniform", "rademacher"]
NoiseDraws = Literal["round", "graph"]
Noise = Callable[[np.random.Generator, float], float]

NOISES: tuple[NoiseName, ...] = get_args(NoiseName)
NOISE_DRAWS: tuple[NoiseDraws, ...] = get_args(NoiseDraws)
_STANDARD: dict[NoiseName, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "gaussian": lambda rng, count: rng.standard_normal(count),
    "uniform": lambda rng, count: rng.uniform(-math.sqrt(3), math.sqrt(3), count),
    "rademacher": lambda rng, count: rng.integers(2, size=count) * np.float64(2.0) - 1.0,
}


@dataclass(frozen=True)
class NamedNoise:
    """Noise of mean 0 that does not depend on the mean reward, and so can be drawn ahead."""

    name: NoiseName
    noise_std: NDArray[np.float64]
    """sigma_epsilon, in reward units: `()`, or `(K,)` where each graph has its own."""

    def standard(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Draw the noise of the next `count` rewards in units of its standard deviation, as one call for each would."""
        return _STANDARD[self.name](rng, count)

    def scale(self, actions: int | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the standard deviation of the noise of each of these graphs."""
        return np.asarray(self.noise_std[actions]) if self.noise_std.ndim else self.noise_std


def make_noise(noise: NoiseName | Noise, noise_std: ArrayLike, num_graphs: int | None = None) -> Noise | NamedNoise:
    """Return what draws the noise of a reward.

    Args:
        noise: "gaussian", "uniform" or "rademacher", each with mean 0 and standard deviation `noise_std`; or your own
            function, which `noise_std` does not affect.
        noise_std: sigma_epsilon, in reward units; or one for each of K graphs.
        num_graphs: K; None: the graphs change.

    Returns:
        Noise that has a name, or the function.

    Raises:
        ValueError: if the name is unknown, or `noise_std` is not a number from 0 to `LARGEST_MEAN`, or K of them.
    """
    deviations = _check_deviations(noise_std, num_graphs)
    if callable(noise):
        return noise
    return NamedNoise(check_choice("noise", noise, NOISES), deviations)


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
        draws: "round", one draw for each round, whichever graph is played; or "graph", one for each graph and round.
        num_graphs: K, or the most graphs of a round.
    """

    def __init__(self, noise: Noise | NamedNoise, rng: np.random.Generator, draws: NoiseDraws, num_graphs: int) -> None:
        self._noise, self._rng, self._of_graphs, self._num_graphs = noise, rng, draws == "graph", num_graphs

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
        if isinstance(self._noise, NamedNoise):
            drawn = self.draw_ahead(1)[0]
            return float(self._noise.scale(action) * drawn[action if self._of_graphs else 0])
        if not self._of_graphs:
            return draw_noise(self._noise, self._rng, float(means[action]))
        return [draw_noise(self._noise, self._rng, mean) for mean in means.tolist()][action]

    def draw_ahead(self, rounds: int) -> NDArray[np.float64]:
        """Draw the noise of the next rounds, which `draw` multiplies by its standard deviation; only for named noise.

        Returns:
            `(rounds, K)` float64 if each graph has its own noise, else `(rounds, 1)`.

        Raises:
            TypeError: if the noise is a user's function.
        """
        if not isinstance(self._noise, NamedNoise):
            raise TypeError(f"Expected noise that has a name. Got {self._noise!r}, which may depend on what is played.")
        columns = self._num_graphs if self._of_graphs else 1
        return self._noise.standard(self._rng, rounds * columns).reshape(rounds, columns)


def _check_deviations(noise_std: ArrayLike, num_graphs: int | None) -> NDArray[np.float64]:
    given = np.asarray(noise_std)
    if given.ndim == 0:
        return np.array(check_number("noise_std", noise_std, 0.0, LARGEST_MEAN))
    if num_graphs is None or given.shape != (num_graphs,):
        raise ValueError(
            f"Expected `noise_std` to be a number, or one for each graph of a set that stays. Got {given.shape}."
        )
    return np.array([check_number("noise_std", deviation, 0.0, LARGEST_MEAN) for deviation in given])
