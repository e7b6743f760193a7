"""One instance of a bandit: where its graphs and mean rewards come from, how these drift, and its random streams."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.random_graphs import RandomGraphs, Size, draw_sizes
from graph_bandit_env.rewards.noise import NoiseStream
from graph_bandit_env.rewards.reward_models import (
    FreshMeans,
    RewardModel,
    draw_mean_rewards,
    is_structural,
    location_and_scale,
)

DriftName = Literal["walk", "jump"]
DRIFT_NAMES: tuple[DriftName, ...] = get_args(DriftName)
DRIFT_RATE = 0.01


@dataclass(frozen=True, eq=False)
class Drift:
    """Changes mean rewards from round to round; those d rounds apart have the correlation (1 - rate)^d.

    A walk is a stationary autoregressive process of functions: all means take a small step in each round.

        mu_{t+1} = a mu_t + sqrt(1 - a^2) g_t,   a = 1 - rate,   g_t a fresh draw      [Bogunovic et al. 2016]

    Means that jump stay for a while, and are then all replaced; an agent does not know when.

        mu_{t+1} = g_t with probability rate, else mu_t;   g_t a fresh draw      [Mellor & Shapiro 2013]
    """

    name: DriftName
    fresh: FreshMeans
    """Draws mean rewards."""
    rate: float
    """In (0, 1]."""
    rng: np.random.Generator
    """The only source of randomness."""

    def __call__(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the `(K,)` means of the next round; those of this one stay as they are."""
        if self.name == "jump":
            return self.fresh(self.rng) if self.rng.random() < self.rate else means
        step = math.sqrt(self.rate * (2 - self.rate))  # 1 - a^2 without its loss of digits
        return (1 - self.rate) * means + step * self.fresh(self.rng)


Rewards = Callable[[GraphSet], NDArray[np.float64]]


GraphSource = Callable[[], tuple[GraphSet, NDArray[np.float64]]]
"""Gives the K graphs of the next episode, or round, and their `(K,)` mean rewards."""


def same_graphs(graph_set: GraphSet, means: NDArray[np.float64]) -> tuple[GraphSet, NDArray[np.float64]]:
    """Return one graph set for ever."""
    return graph_set, means


def new_graphs(
    random_graphs: RandomGraphs, rewards: Rewards, rng: np.random.Generator
) -> tuple[GraphSet, NDArray[np.float64]]:
    """Draw random graphs; one reward function gives the means of all of them."""
    graph_set = random_graphs.draw(rng)
    return graph_set, rewards(graph_set)


def pool_subset(
    pool: GraphSet, means: NDArray[np.float64], num_graphs: Size, rng: np.random.Generator
) -> tuple[GraphSet, NDArray[np.float64]]:
    """Draw a subset of a pool without replacement, in the order of the pool."""
    (count,) = draw_sizes(num_graphs, 1, rng).tolist()
    index = np.sort(rng.choice(len(pool), count, replace=False))
    return pool.take(index), means[index]


def draw_general_rewards(
    model: RewardModel, random_graphs: RandomGraphs, rng: np.random.Generator, scale: str
) -> Rewards:
    """Draw one reward function for all graph sets to come.

    Args:
        model: a name of `REWARD_MODELS`, or a function from a PyG `Data` to a number.
        random_graphs: the distribution of the graph sets.
        rng: the only source of randomness.
        scale: "unit" shifts and scales the function so that 100 example graphs have mean 0 and standard deviation 1;
            the mean and standard deviation of a graph set are close to that.

    Returns:
        A function from K graphs to `(K,)` float64.
    """
    raw: Rewards
    if isinstance(model, str) and not is_structural(model):
        from graph_bandit_env.rewards import general_rewards  # imports torch, which the other case does not need

        raw = general_rewards.draw(model, random_graphs, rng)
    else:
        raw = partial(draw_mean_rewards, model, rng=np.random.default_rng(0))  # nothing is drawn
    if scale == "raw":
        return raw
    return partial(_scaled, raw, *location_and_scale(raw(random_graphs.draw_examples(rng))))


def _scaled(raw: Rewards, location: float, unit: float, graph_set: GraphSet) -> NDArray[np.float64]:
    return (raw(graph_set) - location) / unit


class Instance:
    """Graphs, mean rewards, and the random streams of rounds and noise.

    Args:
        source: gives a graph set with their mean rewards.
        actions_per_round: how many graphs a round offers.
        rounds_rng: draws the graphs that a round offers.
        noise: the noise of the rewards.
        drift: changes the mean rewards from round to round, for ever from those that the source gives first; None: they
            stay.

    Attributes:
        graph_set: the K graphs of the current episode, or round.
        mean_rewards: `(K,)` float64, the mean reward of each.
    """

    def __init__(
        self,
        source: GraphSource,
        actions_per_round: int,
        rounds_rng: np.random.Generator,
        noise: NoiseStream,
        drift: Drift | None = None,
    ) -> None:
        self._source, self._actions_per_round, self._rounds_rng = source, actions_per_round, rounds_rng
        self.noise, self._drift = noise, drift
        self.take_graphs()

    def take_graphs(self) -> None:
        """Take the graphs of the next episode, or round."""
        self.graph_set, self.mean_rewards = self._source()

    def drift(self) -> None:
        """Go on to the means of the next round, if they drift; the old array stays as it is."""
        if self._drift is not None:
            self.mean_rewards = self._drift(self.mean_rewards)

    def exists(self, most: int) -> NDArray[np.bool_]:
        """Return which of `most` indices are graphs, bool `(most,)`."""
        return np.arange(most) < len(self.graph_set)

    def offer(self, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Draw the graphs that the next round offers, among those left (bool `(K,)`); return ascending indices."""
        offered = np.flatnonzero(left)
        if self._actions_per_round < len(offered):
            offered = np.sort(self._rounds_rng.choice(offered, self._actions_per_round, replace=False))
        return offered
