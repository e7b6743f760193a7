"""The record of an episode that a renderer draws."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.graphs.graph_set import GraphSet


@dataclass(kw_only=True)
class Episode:
    """An episode up to its latest round."""

    graph_set: GraphSet
    mean_rewards: NDArray[np.float64]
    """`(K,)`."""
    horizon: int
    counts: NDArray[np.int64]
    """`(K,)`: how often each graph was played."""
    cumulative_regret: array[float]
    """R_0 = 0, R_1, ... R_t; an array, since a horizon may be long."""
    played: int | None = None
    """The graph played in the last round; None before the first."""
    reward: float = 0.0
    """The reward of the last round."""

    @property
    def round(self) -> int:
        """Return t, the number of rounds played."""
        return len(self.cumulative_regret) - 1
