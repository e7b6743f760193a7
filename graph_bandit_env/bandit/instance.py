"""An instance of a bandit: the source of its graphs and mean rewards, their drift, and its random streams."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.random_graphs import RandomGraphs, Size, size_range
from graph_bandit_env.rewards.noise import Noise
from graph_bandit_env.rewards.reward_models import FreshMeans, Rewards

DriftName = Literal["walk", "jump"]
DRIFT_RATE = 0.01


@dataclass(frozen=True, eq=False)
class Drift:
    """Drift of the mean rewards. Means d rounds apart have the correlation (1 - rate)^d.

    A walk is a stationary autoregressive process of functions: all means take a small step in each round.

        mu_{t+1} = a mu_t + sqrt(1 - a^2) g_t,   a = 1 - rate,   g_t a fresh draw      [Bogunovic et al. 2016]

    With jumps, all means are replaced at random times that are unknown to the agent.

        mu_{t+1} = g_t with probability rate, otherwise mu_t,   g_t a fresh draw      [Mellor & Shapiro 2013]
    """

    name: DriftName
    fresh: FreshMeans
    """Draws mean rewards."""
    rate: float
    """In (0, 1]."""
    rng: np.random.Generator
    """The only source of randomness."""

    def __call__(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the `(K,)` means of the next round without changing `means`."""
        if self.name == "jump":
            return self.fresh(self.rng) if self.rng.random() < self.rate else means
        step = math.sqrt(self.rate * (2 - self.rate))  # sqrt(1 - a^2) without cancellation
        return (1 - self.rate) * means + step * self.fresh(self.rng)


GraphsAndMeans = tuple[GraphSet, NDArray[np.float64]]
"""K graphs and their `(K,)` mean rewards."""
GraphSource = Callable[[], GraphsAndMeans]


def same_graphs(graph_set: GraphSet, means: NDArray[np.float64]) -> GraphsAndMeans:
    """Return the same graph set each time."""
    return graph_set, means


def new_graphs(random_graphs: RandomGraphs, rewards: Rewards, rng: np.random.Generator) -> GraphsAndMeans:
    """Draw random graphs, with means from one reward function."""
    graph_set = random_graphs.draw(rng)
    return graph_set, rewards(graph_set)


def pool_subset(pool: GraphSet, means: NDArray[np.float64], size: Size, rng: np.random.Generator) -> GraphsAndMeans:
    """Draw a subset of a pool without replacement, in the order of the pool."""
    count = rng.integers(*size_range(size), endpoint=True)
    index = np.sort(rng.choice(len(pool), count, replace=False))
    return pool.take(index), means[index]


@dataclass(eq=False)
class Instance:
    """Graphs, mean rewards, and the random streams of rounds and noise."""

    source: GraphSource
    """Returns the graphs and means of the next episode or round."""
    actions_per_round: int
    """Number of graphs on offer in a round."""
    slot: int | None
    """Index of the context slot: each round draws a choice and offers the actions with it. None without a context."""
    rounds_rng: np.random.Generator
    """Draws the graphs on offer."""
    noise: Noise
    noise_rng: np.random.Generator
    drift: Drift | None
    """Changes the means in each round, starting from the first means of the source. None for constant means."""

    def __post_init__(self) -> None:
        self.take_graphs()

    def take_graphs(self) -> None:
        """Take the graphs of the next episode or round."""
        self.graph_set, self.mean_rewards = self.source()

    def change_means(self) -> None:
        """Replace the means by those of the next round if they drift, without changing the old array."""
        if self.drift is not None:
            self.mean_rewards = self.drift(self.mean_rewards)

    def draw_noise(self, action: int) -> float:
        """Draw the noise of this round's reward."""
        return self.noise.draw(self.noise_rng, self.mean_rewards, action)

    def exists(self, most: int) -> NDArray[np.bool_]:
        """Return a mask of the indices below `most` that are graphs, bool `(most,)`."""
        return np.arange(most) < len(self.graph_set)

    def groups(self) -> list[NDArray[np.int64]]:
        """Return the groups of graphs that a round may offer together, by choice of the slot, as ascending indices."""
        if self.slot is None:
            return [np.arange(len(self.graph_set))]
        choices = cast(Any, self.graph_set).places[:, self.slot]
        return [np.flatnonzero(choices == choice) for choice in np.unique(choices)]

    def offer(self, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Draw the graphs on offer in the next round among those left (bool `(K,)`), and return ascending indices."""
        offered = np.flatnonzero(left)
        if self.slot is not None and len(offered):
            groups = [some for group in self.groups() if len(some := group[left[group]])]
            offered = groups[self.rounds_rng.integers(len(groups))]
        if self.actions_per_round < len(offered):
            offered = np.sort(self.rounds_rng.choice(offered, self.actions_per_round, replace=False))
        return offered
