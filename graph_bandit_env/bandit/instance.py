"""One draw of a bandit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.bandit.graph_sources import GraphSource
from graph_bandit_env.rewards.noise import NoiseStream


class Instance:
    """Graphs, mean rewards, and the streams that rounds and noise come from.

    Args:
        source: gives the graph set of each episode.
        actions_per_round: how many graphs a round offers.
        rounds_rng: draws which.
        noise: of the rewards.

    Attributes:
        graph_set: K graphs of the present episode.
        mean_rewards: `(K,)` float64, of these.
    """

    def __init__(
        self, source: GraphSource, actions_per_round: int, rounds_rng: np.random.Generator, noise: NoiseStream
    ) -> None:
        self._source, self._actions_per_round, self._rounds_rng, self.noise = (
            source,
            actions_per_round,
            rounds_rng,
            noise,
        )
        self.begin_episode()

    def begin_episode(self) -> None:
        """Take the graphs of the next episode."""
        self.graph_set, self.mean_rewards = self._source.next()

    def offer(self, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Draw which of the graphs that are left (bool `(K,)`) the coming round offers: indices, ascending."""
        offered = np.flatnonzero(left)
        if self._actions_per_round < len(offered):
            offered = np.sort(self._rounds_rng.choice(offered, self._actions_per_round, replace=False))
        return offered
