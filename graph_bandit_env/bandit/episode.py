"""The record of an episode for rendering."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.graphs.graph_set import GraphSet


@dataclass
class Episode:
    """An episode of `GraphActionBandit-v0` up to its latest round. It uses no random numbers."""

    graph_set: GraphSet
    mean_rewards: NDArray[np.float64]
    """`(K,)`."""
    horizon: int
    played: int | None = None
    """The graph played in the last round. None before the first round."""
    reward: float = 0.0
    """The reward of the last round, including noise."""
    cumulative_regret: list[float] = field(default_factory=lambda: [0.0])
    """R_0 = 0, R_1, ... R_t."""

    def __post_init__(self) -> None:
        self.counts = np.zeros(len(self.graph_set), np.int64)

    def record(
        self, graph_set: GraphSet, mean_rewards: NDArray[np.float64], action: int, reward: float, regret: float
    ) -> None:
        """Record a round: its graphs (counts restart at zero for new graphs), means, action, reward and regret."""
        if graph_set is not self.graph_set:
            self.counts = np.zeros(len(graph_set), np.int64)
        self.graph_set, self.mean_rewards = graph_set, mean_rewards
        self.counts[action] += 1
        self.cumulative_regret.append(self.cumulative_regret[-1] + regret)
        self.played, self.reward = action, reward
