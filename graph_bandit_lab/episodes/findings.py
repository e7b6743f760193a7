"""Compute findings and events of the regret analysis from the true means, which agents never see."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

DIAGNOSTICS = (
    *("mean_event", "sample_event", "optimism_event", "potential", "log_determinant", "effective_dimension"),
    "misfit",
)
FINDINGS = ("simple_regret", "best_found", "top_recall")
TOP = 100  # the top 1 % is one graph of each hundred, rounded up
TIE = 1e-12  # relative to the largest absolute value; means that differ by less are equal, as for `masked_argmax`


class Findings:
    """Records of the graph that an agent would recommend, and of the graphs that it has played.

    Three numbers are recorded after each round t and the update of the agent. mu_t are the means of that round, which
    also define its regret. If means drift, the numbers use only the current means. G*_t is the best graph of the whole
    set, on offer or not:

        simple_regret   mu_t(G*_t) - mu_t(G^_t), where G^_t has the largest predicted mean of all graphs
        best_found      the largest mu_t of the graphs played so far
        top_recall       share of the ceil(K / 100) graphs of largest mu_t that were played so far

    Predictions come from a `MeanPredictor` or a `BatchAgent` of `agents.contract`. Any other agent, and one that
    diverged or predicts non-finite values, recommends the graph with the largest mean observed reward. Ties go to the
    first graphs, also in the top 1 %. While all graphs are tied, the expected regret of a random choice counts, so that
    the order of a file does not matter.

    The numbers exist only if all rounds play one graph set with known means.

    Args:
        world: the unwrapped environment, after a reset.
    """

    def __init__(self, world: object) -> None:
        self._world, self._graphs = world, getattr(world, "graph_set", None)
        means = getattr(world, "mean_rewards", None)
        self._exist, num_graphs = means is not None, 0 if means is None else len(means)
        self._means = np.full(num_graphs, np.nan)  # of the round that was played last
        self._top, self._played = np.zeros((2, num_graphs), np.bool_)
        self._counts, self._sums = [0] * num_graphs, [0.0] * num_graphs
        self._observed = np.full(num_graphs, -np.inf)  # mean reward of each graph played
        self._rows: list[tuple[float, float]] = []  # best_found and top_recall
        self._regret: list[float] = []

    def play(self, action: int, means: ArrayLike | None) -> float | None:
        """Record a played round, in O(K).

        Args:
            action: the graph played.
            means: `(K,)`. Means of the round. None if the environment does not provide them.

        Returns:
            The largest of these means among the graphs played so far, or None if it does not exist.
        """
        if means is None or getattr(self._world, "graph_set", None) is not self._graphs:
            self._exist = False  # findings need the same graphs in all rounds
        if not self._exist:
            return None
        means = np.asarray(means, np.float64)
        if not np.array_equal(means, self._means):  # in the first round, or if means drift
            self._means, self._top = means.copy(), _choose_top(means)
        self._played[action] = True
        best = float(self._means[self._played].max())
        self._rows.append((best, (self._top & self._played).sum() / self._top.sum()))
        return best

    def tell(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Add rewards that the agent has received."""
        if not self._exist:
            return
        for action, reward in zip(np.atleast_1d(actions).tolist(), np.atleast_1d(rewards).tolist(), strict=True):
            self._counts[action] += 1
            self._sums[action] += reward
            self._observed[action] = self._sums[action] / self._counts[action]

    def recommend(self, agent: object | None) -> None:
        """Record the graph that an agent would recommend after the rounds so far. None means no prediction."""
        if not self._exist or len(self._regret) == len(self._rows):
            return
        means = None if agent is None else _predict_means(agent)
        if means is None or means.shape != self._means.shape or not np.isfinite(means).all():
            means = self._observed
        tolerance = TIE * np.abs(means[np.isfinite(means)]).max(initial=0.0)
        if means.max() == -np.inf:  # no reward yet
            means, tolerance = np.zeros_like(means), 0.0
        best = means >= means.max() - tolerance
        recommended = self._means.mean() if best.all() else self._means[np.argmax(best)]
        self._regret.append(self._means.max() - recommended)

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return each of `FINDINGS`, `(T,)` float64, or an empty dict if they do not exist.

        Call this after the recommendation of the last round.
        """
        if not self._exist:
            return {}
        best_found, top_recall = np.array(self._rows).reshape(-1, 2).T.copy()
        return {"simple_regret": np.array(self._regret), "best_found": best_found, "top_recall": top_recall}


def _choose_top(means: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask of the top 1 % of graphs, bool `(K,)`. Ties go to the first graphs."""
    count = -(-len(means) // TOP)
    last = np.partition(means, -count)[-count]
    top: NDArray[np.bool_] = means > last
    top[np.flatnonzero(means == last)[: count - top.sum()]] = True
    return top


def _predict_means(agent: Any) -> NDArray[np.float64] | None:
    """Return the predicted mean of each graph, or None if there is no prediction."""
    try:
        if hasattr(agent, "predict_means"):
            return np.asarray(agent.predict_means(), np.float64)
        predicts = hasattr(agent, "select_batch") and hasattr(agent, "predict")  # a `BatchAgent`
        return np.asarray(agent.predict().mean, np.float64) if predicts else None
    except FloatingPointError:  # a prediction that is not finite
        return None


class Diagnostics:
    """Diagnostics of agents that have `insight`. Other agents have no records.

    The three events of the analysis of Wu & Amini (2024), over the graphs on offer in round t:

        E^mu:     |mu(G) - f(G)| <= nu sigma(G) for all G      [the network's error epsilon(t, m) taken as 0]
        E^sigma:  |r_hat(G) - f(G)| <= c_t nu sigma(G) for all G,   c_t = sqrt(4 log t + 2 log K)
        E^a:      r_hat(G*) - f(G*) > nu sigma(G*)             [anti-concentration: the draw of the best is optimistic]

    Each round also records min{1, sigma^2} of the graph played, log det(U / ridge) of the rounds before, the effective
    dimension with their number as the horizon, and the size of earlier forecast errors (1 is expected). E^sigma and E^a
    are `nan` if the rule draws no rewards.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[float, ...]] = []

    def record(self, agent: object, means: NDArray[np.float64], action: int, action_mask: ArrayLike) -> None:
        """Record the beliefs of an agent after it has chosen `action` and before it sees the reward.

        Args:
            agent: the agent, which is not changed.
            means: `(K,)`. mu.
            action: the graph chosen.
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
                insight.misfit,
            )
        )

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return each diagnostic, `(T,)` float64, or an empty dict if the agent has no insight."""
        if not self._rows:
            return {}
        return dict(zip(DIAGNOSTICS, np.array(self._rows).T.copy(), strict=True))
