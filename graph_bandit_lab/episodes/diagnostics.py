"""Check the events of the regret analysis in each round, by the true means that only the laboratory knows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

DIAGNOSTICS = ("mean_event", "sample_event", "optimism_event", "potential", "log_determinant", "effective_dimension")


class Diagnostics:
    """Records of an agent that explains its choices by `insight`; agents without it leave none.

    The three events of the analysis of Wu & Amini (2024), over the graphs on offer in round t:

        E^mu:     |mu(G) - f(G)| <= nu sigma(G) for all G      [the network's error epsilon(t, m) taken as 0]
        E^sigma:  |r_hat(G) - f(G)| <= c_t nu sigma(G) for all G,   c_t = sqrt(4 log t + 2 log K)
        E^a:      r_hat(G*) - f(G*) > nu sigma(G*)             [anti-concentration: the draw of the best is optimistic]

    Each round also records min{1, sigma^2} of the graph played, log det(U / ridge) of the rounds before, and the
    effective dimension with their number as the horizon. E^sigma and E^a are `nan` if the rule draws no rewards.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[float, ...]] = []

    def record(self, agent: object, means: NDArray[np.float64], action: int, action_mask: ArrayLike) -> None:
        """Record the beliefs of an agent that has just chosen `action` and has not seen the reward yet.

        Args:
            agent: it is not changed.
            means: `(K,)`. mu.
            action: the graph that it chose.
            action_mask: `(K,)`. 1 for each graph on offer in this round.
        """
        if not hasattr(agent, "insight"):
            return
        insight, offered = agent.insight(), np.flatnonzero(action_mask)
        best = offered[means[offered].argmax()]
        mean_event = np.all(np.abs(means - insight.mean)[offered] <= insight.spread[offered])
        sample_event = optimism_event = math.nan
        if insight.sampled is not None:
            deviation = insight.sampled - insight.mean
            width = math.sqrt(4 * math.log(len(self._rows) + 1) + 2 * math.log(len(means)))
            sample_event = float(np.all(np.abs(deviation)[offered] <= width * insight.spread[offered]))
            optimism_event = float(deviation[best] > insight.spread[best])
        self._rows.append(
            (
                float(mean_event),
                sample_event,
                optimism_event,
                min(1.0, float(insight.variance[action])),
                insight.log_determinant,
                insight.effective_dimension,
            )
        )

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return each diagnostic, `(T,)` float64; an empty dict if the agent has no insight."""
        if not self._rows:
            return {}
        return dict(zip(DIAGNOSTICS, np.array(self._rows).T.copy(), strict=True))
