"""What a campaign knows: its agent's forecasts, and what is told; each call is saved as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from agents.contract import Agent, Correlation, ModelAgent
from graph_bandit_campaign.model.explanations import Explanation, explain_graphs
from graph_bandit_campaign.model.failures import FailureForecast, FailureLearner
from graph_bandit_campaign.model.front import expect_all, find_front
from graph_bandit_campaign.model.learner import Learner
from graph_bandit_campaign.model.stopping import StoppingAdvice, look_ahead
from graph_bandit_campaign.pool.index import MaskLike, PoolIndex, PoolLike
from graph_bandit_campaign.results.matching import Matcher, match_rows
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.results.typed import Typed, read_entries, read_typed
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_campaign.store import Change, Store
from graph_bandit_campaign.verbs import Told, mark, tell

T = TypeVar("T")


class Records:
    """The graphs of a campaign, what its agent has learnt of them, and the file in which all is saved."""

    state: CampaignState
    """Everything that is known, and what was suggested."""
    graph_set: PoolLike
    """The graphs."""
    _learner: Learner
    _failures: FailureLearner
    _index: PoolIndex
    _offered: NDArray[np.bool_]
    _store: Store
    _resume: Callable[[CampaignState | None], CampaignState]
    """Returns the campaign of the file as it goes on here, but for its agent."""
    _named: str | None

    def __copy__(self) -> Self:
        """Return a campaign that knows the same, and is not saved."""
        made = object.__new__(type(self))
        made.__dict__ |= self.__dict__ | {"_store": self._store.twin()}
        return made

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

    def predict(self) -> dict[str, Suggestion]:
        """Return the prediction for every graph by its id."""
        return dict(zip(self.ids, self._expect(range(len(self.ids))), strict=True))

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

    def explain(self, ids: Iterable[str], goal: str = "") -> dict[str, Explanation]:
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
        return explain_graphs(*self._model_of(goal), self.ids, self._index.indices(ids), smiles)

    def correlations(self, goal: str = "") -> dict[str, Correlation]:
        """Return how the results of other assays go along with the values of a goal, by assay."""
        agent, state = self._model_of(goal) if self._learner.sources else (None, self.state)
        learnt = agent.correlations() if isinstance(agent, ModelAgent) else {}
        return learnt if state.maximize else {k: Correlation(-r.value, -r.high, -r.low) for k, r in learnt.items()}

    def failing(self) -> FailureForecast:
        """Return the probability of each graph to fail, learnt from those that failed and those that were measured."""
        return self._failures.learn(self.state, self._index.index_of, self._learner)

    def stopping_advice(self, among: MaskLike = None) -> StoppingAdvice | None:
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
        names = self.state.quantities
        if goal and goal not in names:
            raise ValueError(f"Expected `goal` to be one of {', '.join(names)}. Got {goal!r}.")
        index = names.index(goal) if goal else 0
        return self._agents()[index], self.state.views()[index]

    def _agents(self, fresh: bool = False) -> list[Agent]:
        """Return the agent or, with several goals, one for each, trained on the results."""
        self._index.indices(result.id for result in self.state.measured)  # refuses those that are not in the pool
        return [self._learner.learn(view, self._index.index_of, fresh) for view in self.state.views()]

    def tell(
        self,
        results: Typed | str | Path,
        goal: str = "",
        *,
        noise: str | None = None,
        instead: bool = False,
        drop_missing: bool = False,
        by: str = "",
    ) -> Told:
        """Take in results, all of them or, on an error, none.

        A second value of a graph is a replicate, which is averaged with the first; the same value again counts once. An
        exact value of a graph counts before its bounds. With several goals, a graph is pending until all are known.

        Args:
            results: values by id, or pairs of id and value, or triples with the standard deviation of the noise. A
                value is a number; True for a hit of a class, False for none; a bound, ">4.5" or "<4.5"; or "failed".
                Or the path of a table, as of the command `suggest`: when it is told again, its results are corrected.
            goal: the goal that was measured, if there are several; failures without one are of all. Of a table, the
                column of the values.
            noise: column of a table with the standard deviations of the values.
            instead: whether values replace those that were told of their graphs before.
            drop_missing: whether results are removed whose rows a table no longer has.
            by: who tells them.

        Raises:
            ValueError: if there is no such graph or goal, a value cannot be understood, or used by the agent, a graph
                has failed that is measured, or a table lacks rows that it had; nothing has changed then.
        """
        kind, tables = self.state.kind, list[str]()
        if isinstance(results, str | Path):
            opened, tables = ResultTables.open([Path(results)]), [self._store.name_of(Path(results))]
            names = [goal] if goal else [each.name for each in self.state.goals] or [self.state.target]
            rows = {name: opened.read(Columns(name, noise=noise)).rows for name in names}
        else:
            rows, kind = read_entries(read_typed(results, goal), self.state.quantities, kind)
        sources = {str(results): tables[0]} if tables else {}
        matched = match_rows(rows, Matcher(self.graph_set), several=bool(self.state.goals), sources=sources)
        self._index.indices(each.id for each in matched.results)  # refuses those that are not in the pool

        def told(state: CampaignState) -> tuple[CampaignState, Told]:
            return tell(replace(state, kind=kind), matched, tables, drop_missing, instead, by, self._store.clock())

        about = tables[0] if tables else f"{len(matched.results)} results"
        return self.change("tell", told, about, by)

    def mark(
        self,
        identifier: str,
        *,
        veto: bool | str | None = None,
        pin: bool | None = None,
        comment: str = "",
        waits: bool | None = None,
        by: str = "",
    ) -> None:
        """Veto or pin a graph, or take that back; keep a comment; or say that nobody measures it, as `verbs.mark` says.

        `another` suggests others in the place of vetoed ones. The graph need not be in the pool any more.

        Raises:
            ValueError: if there is no such graph, it is measured, or a text is too long.
        """
        key = identifier if identifier in self.state.known else self._index.check_id(identifier)
        if pin:
            self._index.check_id(key)
        structures = self._index.structures(self._index.present([key]))

        def marked(state: CampaignState) -> tuple[CampaignState, None]:
            return mark(state, key, veto, pin, comment, waits, by, structures), None

        self.change("mark", marked, key, by)

    def undo(self) -> Change:
        """Take back the last change, and return it: results, a round or marks.

        Raises:
            ValueError: if there is none.
        """
        change = self._store.undo()
        self._refresh()
        return change

    def redo(self) -> Change:
        """Make the change again that was undone last, and return it.

        Raises:
            ValueError: if there is none.
        """
        change = self._store.redo()
        self._refresh()
        return change

    def change(
        self, verb: str, make: Callable[[CampaignState], tuple[CampaignState, T]], about: str = "", by: str = ""
    ) -> T:
        """Change the campaign, and save it; return what `make` says.

        Args:
            verb: as of `Store.change`.
            make: returns the newest state after the change, and an answer; if it raises, nothing has changed.
            about: as of `Store.change`.
            by: as of `Store.change`.

        Raises:
            ValueError: if the agent cannot use a result.
        """

        def made(newest: CampaignState) -> tuple[CampaignState, T]:
            after, answer = make(self._continued(newest))
            self._learner.check_results(after)
            return after, answer

        self._store.begin(self.state)
        self.state, answer = self._store.change(verb, made, about, by)
        return answer

    def _refresh(self) -> None:
        """Look at what others have changed."""
        self.state = self._continued(self._store.read() or self.state)

    def _continued(self, saved: CampaignState | None) -> CampaignState:
        """Return the campaign of the file as it goes on here."""
        state = self._resume(saved and saved.renamed(self._index.aliases))
        self._learner.check_results(state)
        return self._with_agent(state)

    def _with_agent(self, state: CampaignState) -> CampaignState:
        """Return the campaign with the agent that goes on, and its version."""
        return replace(
            state,
            agent=self._learner.spec,
            algorithm=self._learner.algorithm,
            by_default=self._named is None,
            kind=state.kind or ("" if self._learner.has_posterior else "number"),
        )
