"""What a campaign's agent thinks, given the results: predictions, their reasons, and whether to go on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.contract import Agent, Correlation, ModelAgent
from graph_bandit_campaign.model.failures import FailureForecast, FailureLearner
from graph_bandit_campaign.model.front import expect_all, find_front
from graph_bandit_campaign.model.learner import Learner
from graph_bandit_campaign.model.reasons import Reason, find_reasons
from graph_bandit_campaign.model.stopping import Outlook, look_ahead
from graph_bandit_campaign.notebook import Predictions
from graph_bandit_campaign.pool.index import MaskLike, PoolIndex, PoolLike
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_campaign.text import short


class Forecasts:
    """The graphs of a campaign, and what its agent has learnt of them."""

    state: CampaignState
    """Everything that is known, and what was suggested."""
    graph_set: PoolLike
    """The graphs."""
    _learner: Learner
    _failures: FailureLearner
    _index: PoolIndex
    _offered: NDArray[np.bool_]

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of the graphs."""
        return self._index.ids

    @property
    def best(self) -> float | None:
        """Return the best value so far, with the mean for repeated measurements; None if nothing was measured.

        A graph that is only known to be better than a value counts as that value. One that is only known to be worse
        than a value does not count.

        Raises:
            ValueError: if there are several goals, which have a `front`.
        """
        return self.state.best()

    def front(self) -> tuple[str, ...]:
        """Return the ids on the front of several goals: they meet all limits, and no measured graph beats them.

        One graph beats another if it is as good in every goal and better in one. The best in the first goal come first.
        """
        return find_front(self.state)

    def on_offer(self, among: MaskLike = None) -> NDArray[np.bool_]:
        """Return which graphs can be suggested: those that are neither measured, pending, failed nor vetoed.

        Args:
            among: `(K,)` bool. The graphs that can be chosen this time; None: all that are offered.

        Returns:
            `(K,)` bool.

        Raises:
            ValueError: if the mask does not fit, or a graph that was measured or failed is not in the pool.
        """
        mask = self._offered & self._index.mask("among", among)
        mask[self._index.indices((*self.state.settled(), *self.state.failed))] = False
        mask[self._index.present((*self.state.pending, *self.state.vetoes))] = False
        return mask

    def predict(self) -> Predictions:
        """Return the prediction for every graph by its id, a dict with `to_frame()`."""
        return Predictions(self._expect(every := range(len(self.ids))), self._index.written(every))

    @property
    def learns_bounds(self) -> bool:
        """Return whether the agent learns from a bound as such, and from the noise of a result.

        Else the number of a bound is taught as if it were the value, and noises are refused.
        """
        return self._learner.has_posterior

    @property
    def uses_columns(self) -> bool:
        """Return whether the agent learns from columns that molecules bring along; else these are refused."""
        return self._learner.uses_columns

    def model(self, goal: str = "") -> Agent:
        """Return the agent, trained on the results so far; of the first goal if there are several, and none is named.

        Raises:
            ValueError: if there is no such goal, or a measured graph is not in the pool.
        """
        return self._model_of(goal)[0]

    def shares(self, goal: str = "") -> dict[str, float]:
        """Return by what the agent's model compares graphs, with the share of each part; empty if it does not say.

        The results decide the shares, which add up to 1.

        Args:
            goal: as in `model`.
        """
        return agent.shares() if isinstance(agent := self._model_of(goal)[0], ModelAgent) else {}

    def reasons(self, ids: Iterable[str], goal: str = "") -> dict[str, Reason]:
        """Return what the predictions of some graphs are sums of, over the parts of the model and over the results.

        Args:
            ids: their ids.
            goal: as in `model`.

        Returns:
            By id. Empty if the agent has no exact process, or all results so far are equal or bounds.

        Raises:
            ValueError: if there is no such graph or goal.
        """
        smiles = getattr(self.graph_set, "smiles", ())
        return find_reasons(*self._model_of(goal), self.ids, self._index.indices(ids), smiles)

    def correlations(self, goal: str = "") -> dict[str, Correlation]:
        """Return how the results of other assays go along with the values of a goal, by assay."""
        agent, state = self._model_of(goal) if self._learner.sources else (None, self.state)
        learnt = agent.correlations() if isinstance(agent, ModelAgent) else {}
        return learnt if state.maximize else {k: Correlation(-r.value, -r.high, -r.low) for k, r in learnt.items()}

    def failing(self) -> FailureForecast:
        """Return the probability of each graph to fail, learnt from those that failed and those that were measured."""
        return self._failures.learn(self.state, self._index.index_of, self._learner)

    def outlook(self, among: MaskLike = None) -> Outlook | None:
        """Return whether a better graph is still to be found, and what the pending ones promise.

        Args:
            among: `(K,)` bool. The graphs among which it is to be found, as in `ask`; None: all that are offered.

        Returns:
            None if the agent has no exact process, all results are equal, or there are several goals.
        """
        if self.state.goals:
            return None
        candidates = np.flatnonzero(self.on_offer(among))
        return look_ahead(self._agents()[0], self.state, self.ids, self._index.index_of, candidates)

    def _expect(self, indices: Sequence[int], offered: int = 0) -> tuple[Suggestion, ...]:
        return expect_all(self.state, self._agents(), indices, self.ids, offered)

    def _model_of(self, goal: str) -> tuple[Agent, CampaignState]:
        """Return the agent of a goal, and the campaign with this goal alone; of the first goal if none is named."""
        index = self._place_of(goal) if goal else 0
        return self._agents()[index], self.state.views()[index]

    def _place_of(self, goal: str) -> int:
        names = [own_goal.name for own_goal in self.state.goals] or [""]
        if goal not in names:
            wanted = f"one of the goals {', '.join(names)}" if self.state.goals else "nothing: there is one goal"
            raise ValueError(f"Expected `goal` to be {wanted}. Got {goal!r}.")
        return names.index(goal)

    def _agents(self, fresh: bool = False) -> list[Agent]:
        """Return the agent or, with several goals, one for each, trained on the results."""
        self._index.indices(result.id for result in self.state.measured)  # refuses those that are not in the pool
        return [self._learner.learn(view, self._index.index_of, fresh) for view in self.state.views()]


def say_ending(state: CampaignState, every: str, best: str = "", target: str = "") -> str:
    """Say why no graph is left to suggest, and which is the best.

    Args:
        state: the campaign.
        every: what the graphs are called, such as "all 5 molecules".
        best: the best value as text; empty: as measured.
        target: name of the goal; empty: that of the campaign.
    """
    kinds = {"measured": state.settled(), "failed": state.failed, "vetoed": state.vetoes, "pending": state.pending}
    why = " or ".join(kind for kind in kinds if kinds[kind]) or "ruled out"
    text = f"Nothing is left to suggest: {every} are {why}"
    leader = None if state.goals or state.is_class else state.leader()
    if leader is not None:
        text += f", and the best {target or state.target or 'value'} is {best or short(leader[1])} ({leader[0]})"
    return f"{text}{f', with {len(state.hits):,} hits' * state.is_class}."
