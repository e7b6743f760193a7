"""Combine a campaign's state, agent and file. Each call is saved completely or not at all."""

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
from graph_bandit_campaign.results.entries import Typed, read_entries, read_typed
from graph_bandit_campaign.results.matching import Matcher, match_rows
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_campaign.store import Change, Store
from graph_bandit_campaign.verbs import Told, annotate, tell

T = TypeVar("T")


class Records:
    """The graphs of a campaign, its trained agent, and the file in which the campaign is saved."""

    state: CampaignState
    """All results, suggestions and annotations."""
    graph_set: PoolLike
    """The graphs."""
    _learner: Learner
    _failures: FailureLearner
    _index: PoolIndex
    _offered: NDArray[np.bool_]
    _store: Store
    _resume: Callable[[CampaignState | None], CampaignState]
    """Returns the campaign of the file with the arguments of this object, except for the agent."""
    _named: str | None

    def __copy__(self) -> Self:
        """Return an unsaved copy of the campaign."""
        made = object.__new__(type(self))
        made.__dict__ |= self.__dict__ | {"_store": self._store.twin()}
        return made

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of the graphs."""
        return self._index.ids

    @property
    def best(self) -> float | None:
        """Return the best value so far, averaged over repeated measurements, or None without measurements.

        A graph with only a bound on the good side counts with that bound. A graph with only a bound on the bad side
        does not count.

        Raises:
            ValueError: if there are several goals. Use `front` instead.
        """
        return self.state.best()

    def front(self) -> tuple[str, ...]:
        """Return the ids on the front of several goals: they meet all limits, and no measured graph dominates them.

        A graph dominates one that is no better in any goal and worse in one. The best in the first goal come first.
        """
        return find_front(self.state)

    def on_offer(self, among: MaskLike = None) -> NDArray[np.bool_]:
        """Return a mask of the graphs that can be suggested: not measured, pending, failed or vetoed.

        Args:
            among: `(K,)` bool. The graphs that can be chosen this time, or None for all that are offered.

        Returns:
            `(K,)` bool.

        Raises:
            ValueError: if the mask does not fit, or a measured or failed graph is not in the pool.
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
        """Return True if the agent learns from bounds as such, and from the noise of a result.

        Otherwise a bound is used as if it were the value, and noise is rejected.
        """
        return self._learner.has_posterior

    @property
    def uses_columns(self) -> bool:
        """Return True if the agent learns from columns of the molecules. Otherwise columns are rejected."""
        return self._learner.uses_columns

    def model(self, goal: str = "") -> Agent:
        """Return the agent, trained on the results so far, for a goal (by default the first).

        Raises:
            ValueError: if the goal does not exist, or a measured graph is not in the pool.
        """
        return self._model_of(goal)[0]

    def shares(self, goal: str = "") -> dict[str, float]:
        """Return the share of each part of the agent's model, or an empty dict if the model has no parts.

        The shares are learned from the results, and add up to 1.

        Args:
            goal: as in `model`.
        """
        return agent.shares() if isinstance(agent := self._model_of(goal)[0], ModelAgent) else {}

    def explain(self, ids: Iterable[str], goal: str = "") -> dict[str, Explanation]:
        """Explain the predictions of some graphs as sums over the parts of the model and over the results.

        Args:
            ids: their ids.
            goal: as in `model`.

        Returns:
            Explanations by id. Empty if the agent has no exact process, or all results so far are equal or bounds.

        Raises:
            ValueError: if a graph or the goal does not exist.
        """
        smiles = getattr(self.graph_set, "smiles", ())
        return explain_graphs(*self._model_of(goal), self.ids, self._index.indices(ids), smiles)

    def correlations(self, goal: str = "") -> dict[str, Correlation]:
        """Return the correlation of each related assay with a goal, by assay."""
        agent, state = self._model_of(goal) if self._learner.sources else (None, self.state)
        learnt = agent.correlations() if isinstance(agent, ModelAgent) else {}
        return learnt if state.maximize else {k: Correlation(-r.value, -r.high, -r.low) for k, r in learnt.items()}

    def failing(self) -> FailureForecast:
        """Return the probability that each graph fails, learned from the failed and the measured graphs."""
        return self._failures.learn(self.state, self._index.index_of, self._learner)

    def stopping_advice(self, among: MaskLike = None) -> StoppingAdvice | None:
        """Return the probability that the pool holds a better graph, and that a pending graph is better.

        Args:
            among: `(K,)` bool. The candidates, as in `ask`, or None for all that are offered.

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
        """Return the agent of a goal (by default the first), and the campaign with this goal alone."""
        names = self.state.quantities
        if goal and goal not in names:
            raise ValueError(f"Expected `goal` to be one of {', '.join(names)}. Got {goal!r}.")
        index = names.index(goal) if goal else 0
        return self._agents()[index], self.state.views()[index]

    def _agents(self, fresh: bool = False) -> list[Agent]:
        """Return the trained agents, one for each goal."""
        self._index.indices(result.id for result in self.state.measured)  # rejects graphs that are not in the pool
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
        """Add results. On an error, none of them are added.

        A second value of a graph is a replicate, and is averaged with the first. An equal value counts once. Exact
        values take precedence over bounds. With several goals, a graph is pending until it has a result for each.

        Args:
            results: values by id, or pairs of id and value, or triples with the standard deviation of the noise. A
                value is a number, a bool for a class, a bound such as ">4.5" or "<4.5", or "failed". Or the path of a
                table, as in the command `suggest`. If it is given again, its results are corrected.
            goal: the measured goal, if there are several. A failure without a goal applies to all. For a table, the
                column of the values.
            noise: column of a table with the standard deviations of the values.
            instead: if True, values replace earlier ones of the same graphs.
            drop_missing: if True, results are removed if their rows have disappeared from the table.
            by: name of the reporting person.

        Raises:
            ValueError: if a graph or the goal does not exist, a value is invalid, or the agent cannot use it, a failed
                graph is measured, or a table lacks rows that it had. The campaign is unchanged then.
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
        self._index.indices(each.id for each in matched.results)  # rejects graphs that are not in the pool

        def told(state: CampaignState) -> tuple[CampaignState, Told]:
            return tell(replace(state, kind=kind), matched, tables, drop_missing, instead, by, self._store.clock())

        about = tables[0] if tables else f"{len(matched.results)} results"
        return self.change("tell", told, about, by)

    def annotate(
        self,
        identifier: str,
        *,
        veto: bool | str | None = None,
        pin: bool | None = None,
        comment: str = "",
        waits: bool | None = None,
        by: str = "",
    ) -> None:
        """Update the veto, the pin, the comments or the pending state of a graph, see `verbs.annotate`.

        `another` replaces vetoed suggestions. The graph need not be in the pool any more.

        Raises:
            ValueError: if the graph does not exist or is measured, or a text is too long.
        """
        key = identifier if identifier in self.state.known else self._index.check_id(identifier)
        if pin:
            self._index.check_id(key)
        structures = self._index.structures(self._index.present([key]))

        def marked(state: CampaignState) -> tuple[CampaignState, None]:
            return annotate(state, key, veto, pin, comment, waits, by, structures), None

        self.change("annotate", marked, key, by)

    def undo(self) -> Change:
        """Undo the last change (results, a round or annotations), and return it.

        Raises:
            ValueError: if there is no change to undo.
        """
        change = self._store.undo()
        self._refresh()
        return change

    def redo(self) -> Change:
        """Redo the change that was undone last, and return it.

        Raises:
            ValueError: if there is no change to redo.
        """
        change = self._store.redo()
        self._refresh()
        return change

    def change(
        self, verb: str, make: Callable[[CampaignState], tuple[CampaignState, T]], about: str = "", by: str = ""
    ) -> T:
        """Change the campaign, save it, and return the answer of `make`.

        Args:
            verb: as in `Store.change`.
            make: returns the newest state after the change, and an answer. If it raises, the campaign is unchanged.
            about: as in `Store.change`.
            by: as in `Store.change`.

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
        """Read the changes of other processes."""
        self.state = self._continued(self._store.read() or self.state)

    def _continued(self, saved: CampaignState | None) -> CampaignState:
        """Return the campaign of the file with the arguments of this object."""
        state = self._resume(saved and saved.renamed(self._index.aliases))
        self._learner.check_results(state)
        return self._with_agent(state)

    def _with_agent(self, state: CampaignState) -> CampaignState:
        """Return the campaign with the current agent, and its version."""
        return replace(
            state,
            agent=self._learner.spec,
            algorithm=self._learner.algorithm,
            by_default=self._named is None,
            kind=state.kind or ("" if self._learner.has_posterior else "number"),
        )
