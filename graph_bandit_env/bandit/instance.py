"""One instance of a bandit: its graphs, mean rewards and random streams."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.bandit.drift import Drift
from graph_bandit_env.bandit.graph_sources import GraphSource
from graph_bandit_env.rewards.noise import NoiseStream


class Instance:
    """Graphs, mean rewards, and the random streams of rounds and noise.

    Args:
        source: gives graph sets with their mean rewards.
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
        self.graph_set, self.mean_rewards = self._source.next()

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
