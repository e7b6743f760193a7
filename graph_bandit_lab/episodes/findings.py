"""Judge what an episode has found, and the events of the regret analysis, by means that only the laboratory knows."""

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

    Three numbers are recorded after each round t, when its reward has been told. mu_t are the means of that round, by
    which its regret counts, too; where means drift, others hold in round t + 1, and none of the numbers keeps what was
    true earlier. G*_t is the best graph of the whole set, on offer or not:

        simple_regret   mu_t(G*_t) - mu_t(G^_t), where G^_t has the largest predicted mean of all graphs
        best_found      the largest mu_t of the graphs played so far
        top_recall       share of the ceil(K / 100) graphs of largest mu_t that were played so far

    A `MeanPredictor` or a `BatchAgent` of `agents.contract` predicts. Any other agent recommends the graph whose
    observed rewards have the largest mean, and so does one that diverged, or whose prediction is not finite. Of equal
    graphs the first is recommended, and the first belong to the top; but as long as nothing tells any two graphs apart,
    one at random is recommended, and its expected regret counts, so that the order of a file does not.

    The numbers exist where one graph set with known means is played in all rounds.

    Args:
        world: the unwrapped environment, which has been reset.
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
        """Record a round that was played, in O(K).

        Args:
            action: the graph played.
            means: `(K,)`. The means of the round; None: the environment does not tell them.

        Returns:
            The largest of these means among the graphs played so far; None where it does not exist.
        """
        if means is None or getattr(self._world, "graph_set", None) is not self._graphs:
            self._exist = False  # other graphs: nothing adds up over rounds
        if not self._exist:
            return None
        means = np.asarray(means, np.float64)
        if not np.array_equal(means, self._means):  # in the first round, or where means drift
            self._means, self._top = means.copy(), _choose_top(means)
        self._played[action] = True
        best = float(self._means[self._played].max())
        self._rows.append((best, (self._top & self._played).sum() / self._top.sum()))
        return best

    def tell(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Add rewards that the agent has been told."""
        if not self._exist:
            return
        for action, reward in zip(np.atleast_1d(actions).tolist(), np.atleast_1d(rewards).tolist(), strict=True):
            self._counts[action] += 1
            self._sums[action] += reward
            self._observed[action] = self._sums[action] / self._counts[action]

    def recommend(self, agent: object | None) -> None:
        """Record the graph that an agent would recommend after the rounds so far; None: one without a prediction."""
        if not self._exist or len(self._regret) == len(self._rows):
            return
        means = None if agent is None else _predict_means(agent)
        if means is None or means.shape != self._means.shape or not np.isfinite(means).all():
            means = self._observed
        tolerance = TIE * np.abs(means[np.isfinite(means)]).max(initial=0.0)
        if means.max() == -np.inf:  # nothing was told yet
            means, tolerance = np.zeros_like(means), 0.0
        best = means >= means.max() - tolerance
        recommended = self._means.mean() if best.all() else self._means[np.argmax(best)]
        self._regret.append(self._means.max() - recommended)

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return each of `FINDINGS`, `(T,)` float64; an empty dict where the numbers do not exist.

        Each round that was played has been followed by a recommendation.
        """
        if not self._exist:
            return {}
        best_found, top_recall = np.array(self._rows).reshape(-1, 2).T.copy()
        return {"simple_regret": np.array(self._regret), "best_found": best_found, "top_recall": top_recall}


def _choose_top(means: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which graphs belong to the top 1 %, bool `(K,)`; of those that are as good as the last one, the first."""
    count = -(-len(means) // TOP)
    last = np.partition(means, -count)[-count]
    top: NDArray[np.bool_] = means > last
    top[np.flatnonzero(means == last)[: count - top.sum()]] = True
    return top


def _predict_means(agent: Any) -> NDArray[np.float64] | None:
    """Return the predicted mean of each graph; None where there is no prediction."""
    try:
        if hasattr(agent, "predict_means"):
            return np.asarray(agent.predict_means(), np.float64)
        predicts = hasattr(agent, "select_batch") and hasattr(agent, "predict")  # a `BatchAgent`
        return np.asarray(agent.predict().mean, np.float64) if predicts else None
    except FloatingPointError:  # a prediction that is not finite
        return None


class Diagnostics:
    """Records of an agent that explains its choices by `insight`; agents without it leave none.

    The three events of the analysis of Wu & Amini (2024), over the graphs on offer in round t:

        E^mu:     |mu(G) - f(G)| <= nu sigma(G) for all G      [the network's error epsilon(t, m) taken as 0]
        E^sigma:  |r_hat(G) - f(G)| <= c_t nu sigma(G) for all G,   c_t = sqrt(4 log t + 2 log K)
        E^a:      r_hat(G*) - f(G*) > nu sigma(G*)             [anti-concentration: the draw of the best is optimistic]

    Each round also records min{1, sigma^2} of the graph played, log det(U / ridge) of the rounds before, the effective
    dimension with their number as the horizon, and how large earlier errors of forecasts were (1 is expected). E^sigma
    and E^a are `nan` if the rule draws no rewards.
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
                insight.misfit,
            )
        )

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return each diagnostic, `(T,)` float64; an empty dict if the agent has no insight."""
        if not self._rows:
            return {}
        return dict(zip(DIAGNOSTICS, np.array(self._rows).T.copy(), strict=True))
