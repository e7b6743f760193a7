"""Judge what an episode has found so far, by the true means that only the laboratory knows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FINDINGS = ("simple_regret", "best_found", "top_share")
TOP = 100  # the top 1 % is one graph of each hundred, rounded up
TIE = 1e-12  # relative to the largest absolute value; means that differ by less are equal, as for `masked_argmax`


class Findings:
    """Records of the graph that an agent would recommend, and of the graphs that it has played.

    Three numbers are recorded after each round t, when its reward has been told. G* is the best graph of the whole set,
    on offer or not:

        simple_regret   mu(G*) - mu(G^_t), where G^_t has the largest predicted mean of all graphs
        best_found      the largest mu of the graphs played so far
        top_share       share of the ceil(K / 100) graphs of largest mu that were played so far

    A `MeanPredictor` or a `BatchAgent` of `agents.contract` predicts. Any other agent recommends the graph whose
    observed rewards have the largest mean, and so does one that diverged, or whose prediction is not finite. Of equal
    graphs the first is recommended, and the first belong to the top. The numbers exist where one graph set with known
    means is played in all rounds.

    Args:
        world: the unwrapped environment, which has been reset.
    """

    def __init__(self, world: Any) -> None:
        self._world, self._graphs = world, getattr(world, "graph_set", None)
        self._means: NDArray[np.float64] | None = getattr(world, "mean_rewards", None)
        num_graphs = 0 if self._means is None else len(self._means)
        self._counts, self._sums = [0] * num_graphs, [0.0] * num_graphs
        self._observed = np.full(num_graphs, -np.inf)  # mean reward of each graph played
        self._rounds, self._recommended = 0, list[int]()
        self._best = -math.inf

    def play(self, action: int) -> float | None:
        """Count a round that was played, and return the best mean found so far; None where it does not exist."""
        if getattr(self._world, "graph_set", None) is not self._graphs:
            self._means = None  # other graphs: nothing adds up over rounds
        self._rounds += 1
        if self._means is None:
            return None
        self._best = max(self._best, float(self._means[action]))
        return self._best

    def tell(self, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Add rewards that the agent has been told."""
        if self._means is None:
            return
        for action, reward in zip(np.atleast_1d(actions).tolist(), np.atleast_1d(rewards).tolist(), strict=True):
            self._counts[action] += 1
            self._sums[action] += reward
            self._observed[action] = self._sums[action] / self._counts[action]

    def recommend(self, agent: object | None) -> None:
        """Record the graph that an agent would recommend after the rounds so far; None: one without a prediction."""
        if self._means is None or self._rounds == 0:
            return
        means = None if agent is None else _predict_means(agent)
        if means is None or means.shape != self._means.shape or not np.isfinite(means).all():
            means = self._observed
        tolerance = TIE * np.abs(means[np.isfinite(means)]).max(initial=0.0)
        if means.max() == -np.inf:  # nothing was told yet
            means, tolerance = np.zeros_like(means), 0.0
        self._recommended.append(int(np.argmax(means >= means.max() - tolerance)))

    def arrays(self, actions: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """Return each of `FINDINGS`, `(T,)` float64; an empty dict where the numbers do not exist.

        Args:
            actions: `(T,)`. The graphs played, each followed by a recommendation.
        """
        if self._means is None:
            return {}
        means, count = self._means, -(-len(self._means) // TOP)
        top = np.isin(actions, np.argsort(-means, kind="stable")[:count])
        first = np.isin(np.arange(len(actions)), np.unique(actions, return_index=True)[1])
        return {
            "simple_regret": means.max() - means[self._recommended[: len(actions)]],
            "best_found": np.maximum.accumulate(means[actions]),
            "top_share": np.cumsum(top & first) / count,
        }


def _predict_means(agent: Any) -> NDArray[np.float64] | None:
    """Return the predicted mean of each graph; None where there is no prediction."""
    try:
        if hasattr(agent, "predict_means"):
            return np.asarray(agent.predict_means(), np.float64)
        predicts = hasattr(agent, "select_batch") and hasattr(agent, "predict")  # a `BatchAgent`
        return np.asarray(agent.predict().mean, np.float64) if predicts else None
    except FloatingPointError:  # a prediction that is not finite
        return None
