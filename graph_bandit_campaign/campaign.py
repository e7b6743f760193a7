"""A campaign: ask which graphs to measure next, and tell it the results."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import SupportsIndex

import numpy as np

from agents.contract import Agent, Correlation, ModelAgent
from graph_bandit_campaign.assays.told import OtherAssay, correlations_of, read_also
from graph_bandit_campaign.checks import check_integer
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.constraints.goals.goal import Goal, check_goals
from graph_bandit_campaign.constraints.limits.limits import Limits
from graph_bandit_campaign.file import CampaignFile, Given
from graph_bandit_campaign.flags import Kind, check_flag
from graph_bandit_campaign.model import goals_choice
from graph_bandit_campaign.model.choice import check_batch, check_kept, choose_batch, spare_likely, split_round
from graph_bandit_campaign.model.failures import FailureForecast, FailureLearner
from graph_bandit_campaign.model.front import expect_all
from graph_bandit_campaign.model.goals_choice import GoalsChooser
from graph_bandit_campaign.model.learner import DEFAULT, AgentChangedWarning, Learner, default_agent, describe_change
from graph_bandit_campaign.model.made import MOST_TAUGHT, MadeProducts
from graph_bandit_campaign.model.reasons import Reason, find_reasons
from graph_bandit_campaign.model.stopping import Outlook, look_ahead
from graph_bandit_campaign.notebook import Predictions, Suggestions
from graph_bandit_campaign.pool.index import MaskLike, PoolIndex, PoolLike
from graph_bandit_campaign.pool.prepared import PreparedPool
from graph_bandit_campaign.records import Records
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_env.files import as_pool
from graph_bandit_env.pools.products import ProductLibrary
from graph_bandit_lab import AgentSpec


class Campaign(Records):
    """Choose graphs of a pool to measure, a few at a time, for as many rounds as needed.

    Results may arrive in any order, or not at all. With `state`, each call saves the campaign to that file before it
    returns, and a new `Campaign` with the same file continues. The agent is retrained from the measurements, so its
    suggestions depend only on them, on what is pending, and on the seed.

    Args:
        graph_set: K graphs, with `ids` if they have names (as a `GraphPool` or a `MoleculeSet` has). Columns of a
            `MoleculeSet` help to predict. A `PreparedPool` is read into memory; the command `suggest` never does that.
            A path, a DataFrame and a list of SMILES or graphs are read by `graph_bandit_env.files.as_pool`. Of a
            `ProductLibrary` what is told is made, and the most promising products in each `ask`.
        agent: as on the command line, `name:setting=value,...`; "default": by the size of each batch (`default_agent`).
            None: that of the file, else "default". An agent that is not a `BatchAgent` chooses graphs one by one, and
            makes no predictions. An agent of a file, `module:factory`, has to be given each time.
        maximize: True if large values are wanted, False for small ones; None: True.
        seed: seed of all randomness; None: 0.
        target: name of the measured quantity; a file of a campaign with another target is refused. None: no name.
        state: file of the campaign; None: it is not saved. If the file exists, arguments above that are None are taken
            from it. The agent may differ from the file; direction, seed and target may not. If the same agent or the
            default has changed since, an `AgentChangedWarning` says so, here or in the first `ask`.
        offered: `(K,)` bool. Graphs that can be suggested; None: all. Results of the other graphs are accepted, too.
        goals: what is wanted of several measured quantities, in place of `maximize` and `target`; None: one quantity,
            or the goals of the file, whose ranges and weights may change. Agents choose for several by upper bounds in
            place of their rule. Results of a limit that is left out are left out of the file, too.
        ignore_failures: True: nothing is learnt from failures about other graphs.
        also: results of other assays by the name of the assay, and by id or, of molecules in the pool or not, by
            SMILES: numbers, bounds (">4.5") or two classes. They teach, and are not saved: give them each time. They
            need a `molecule-` or `gp-` agent. With several goals, each is taught by all of them.
        kind: "class" if the values are classes, 1 (or True) for a hit and 0 for none; "number" if they are numbers,
            although all are 0 and 1; None: as the file has it, else a class if all values are 0 and 1 in the first
            `ask` that has both. Agents other than `molecule-` and `gp-` take them as numbers.

    Raises:
        ValueError: if the agent is unknown, does not use the columns that the molecules have, cannot choose for several
            goals, a flag or a mask is not of bools, or the file holds a campaign with another direction, seed, target
            or goals.
    """

    graph_set: PoolLike
    """The graphs; of a library of products, those that are in memory."""
    agent_change: str
    """The text of the `AgentChangedWarning`; empty if the agent has not changed."""

    def __init__(
        self,
        graph_set: PoolLike | PreparedPool | ProductLibrary | str | Path | Iterable[object],
        agent: str | None = None,
        *,
        maximize: bool | None = None,
        seed: SupportsIndex | None = None,
        target: str | None = None,
        state: str | Path | None = None,
        offered: MaskLike = None,
        goals: Sequence[Goal] | None = None,
        ignore_failures: bool = False,
        also: Mapping[str, OtherAssay] | None = None,
        kind: Kind | None = None,
    ) -> None:
        saved = (file := CampaignFile(state)).read()
        self._made = None
        if isinstance(graph_set, ProductLibrary):
            self._made = MadeProducts(graph_set, saved, goals, offered, also)
            graph_set = self._made.molecules
        self.graph_set = graph_set = graph_set.load() if isinstance(graph_set, PreparedPool) else as_pool(graph_set)
        self._ignores = check_flag("ignore_failures", ignore_failures)
        self._failures, index = FailureLearner(len(graph_set), self._ignores), PoolIndex(graph_set)
        mask = index.mask("offered", offered) & index.suggestible()
        saved = saved and saved.renamed(index.aliases)
        given = Given(
            None if maximize is None else check_flag("maximize", maximize),
            None if seed is None else check_integer("seed", seed, smallest=0),
            target,
            None if goals is None else check_goals(goals),
            kind,
        )
        several = bool(given.wanted(saved))
        AgentSpec.admit([agent] if agent else [])
        named = agent or (saved.agent if saved and not saved.by_default else DEFAULT)
        self._named = None if named == DEFAULT else named
        size = len(saved.rounds[-1]) if saved and saved.rounds else 1
        try:
            spec = self._named or default_agent(graph_set, size, several)
            sources = read_also(also, graph_set)
            self._learner = Learner(graph_set, spec, several, MOST_TAUGHT if self._made else None, sources)
        except ValueError as error:
            if agent or not saved:
                raise
            raise ValueError(f"{state}: {error} Name another agent to continue.") from error
        current = given.resume(saved, str(state), self._learner.spec)
        self._learner.check_results(current)
        super().__init__(index, mask, file, current)
        self.agent_change = ""
        self._opened: CampaignState | None = saved  # until the first `ask`
        self.choose_agent(size)

    def show(self, graph_set: PoolLike, offered: MaskLike = None, most_taught: int | None = None) -> None:
        """Take other graphs of the same pool in the place of those so far: all that are known, and others.

        Args:
            graph_set: K graphs.
            offered: `(K,)` bool. Graphs that can be suggested; None: all.
            most_taught: how many graphs with results the agent learns from; None: all.

        Raises:
            ValueError: if the mask does not fit, or the agent cannot play these graphs.
        """
        index = PoolIndex(graph_set)
        mask = index.mask("offered", offered) & index.suggestible()
        learner = self._learner.like(graph_set, self._learner.spec, most_taught)
        self.graph_set, self._learner, self._index, self._offered = graph_set, learner, index, mask
        self._failures, self.ids = FailureLearner(len(graph_set), self._ignores), index.ids

    def choose_agent(self, count: int) -> None:
        """Take the agent that was named or, if none was, the default for a batch of this size. `ask` does it itself.

        Args:
            count: how many graphs are to be chosen.
        """
        several = bool(self.state.goals)
        spec = self._named or default_agent(self.graph_set, count, several)
        if spec != self._learner.spec:
            self._learner = self._learner.like(self.graph_set, spec, self._learner.most)
        self.state = replace(
            self.state,
            agent=spec,
            algorithm=self._learner.algorithm,
            by_default=self._named is None,
            goals_algorithm=goals_choice.ALGORITHM if several else self.state.goals_algorithm,
            failures_algorithm=self._failures.algorithm(self.state),
            kind=self.state.kind or ("" if self._learner.has_posterior else "number"),
        )
        before, self.agent_change = self.agent_change, describe_change(self._opened, self.state, count)
        if self.agent_change not in ("", before):
            warnings.warn(self.agent_change, AgentChangedWarning, stacklevel=3)

    def ask(
        self,
        count: SupportsIndex = 1,
        question: str = "",
        among: MaskLike | Limits = None,
        constraints: BatchConstraints | None = None,
        keep: Iterable[str] | None = None,
    ) -> Suggestions:
        """Choose graphs that are neither measured, pending, failed nor vetoed, and mark them as pending.

        Those that are likely to fail are left out as long as others are left; see `failing`. Graphs that are pending,
        but no longer in the pool, do not affect the choice.

        Args:
            count: how many graphs to choose; all that are left, if these are fewer.
            question: saved as `state.question`, so that a caller can ask again after a crash and get the same answer.
            among: `(K,)` bool. The graphs that can be chosen this time; or limits on them; None: all that are offered.
            constraints: prices, a budget, and caps on groups; None: there are none. With a budget there may be fewer
                graphs.
            keep: ids of graphs that are chosen in any case; None: those that are pinned.

        Returns:
            The graphs in the order of choice, with their predictions: a tuple, which notebooks show as a table;
            `to_frame()` makes one of pandas. Empty, and no new round, if no graph is left: `note` says why then.

        Raises:
            ValueError: if a graph that was measured or failed is not in the pool, a pinned one cannot be chosen, or the
                constraints allow too few (as `choose_batch` says).
        """
        count = check_integer("count", count, smallest=1)
        kept = self.state.waiting_pins() if keep is None else (*keep,)
        among = self._offer(count, among, kept)
        mask, under_way = self.on_offer(among), self._index.present(self.state.pending)
        first, constraints = check_kept(kept, self._index.index_of, mask), constraints or BatchConstraints()
        wanted = min(count, int(mask.sum()))
        if not wanted:
            return Suggestions(note=self.state.ending("all candidates on offer"))
        check_batch(wanted, mask, constraints)
        self.choose_agent(count)
        agents, failing = self._agents(fresh=True), self.failing()
        chooser = GoalsChooser(self.state, agents, self._index) if self.state.goals else agents[0]
        if failing.teaches:
            mask = spare_likely(wanted, mask, failing.likely, failing.probability, constraints)
            mask[first] = True
        chosen = choose_batch(chooser, wanted, mask, under_way, constraints, first)
        suggested, kind = self._expect(chosen, int(mask.sum())), self.state.kind
        if self.state.is_class:
            kind, suggested = "class", tuple(sorted(suggested, key=lambda each: -(each.probability or 0.0)))
        pending = (*self.state.pending, *(suggestion.id for suggestion in suggested))
        structures = {**self.state.structures, **self._index.structures(chosen)}
        asked = replace(self.state, rounds=(*self.state.rounds, suggested), pending=pending, structures=structures)
        self._save(replace(asked, question=question, unwritten="", kind=kind))
        self._opened = None
        return Suggestions(suggested, self._index.written(chosen))

    def another(self, among: MaskLike | Limits = None, constraints: BatchConstraints | None = None) -> Suggestions:
        """Choose others in the place of the vetoed suggestions of the last round, and return these; the rest stays.

        Args:
            among: as in `ask`.
            constraints: as in `ask`, of the whole round.

        Raises:
            ValueError: as `ask`, or if no suggestion of the last round is vetoed.
        """
        before, (waiting, done, gone) = self.state, split_round(self.state)
        with self.at_once():
            self.undo_ask()
            keep = (*waiting, *before.waiting_pins()[:gone])
            asked = self.ask(len(waiting) + gone, before.question, among, constraints, keep)
            self._save(replace(self.state, rounds=(*before.rounds[:-1], (*done, *asked)), measured=before.measured))
        new = [each for each in asked if each.id not in waiting]
        return Suggestions(new, self._index.written(self._index.present(each.id for each in new)))

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
        return correlations_of(*self._model_of(goal)) if self._learner.sources else {}

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

    def _offer(self, count: int, among: MaskLike | Limits, kept: tuple[str, ...]) -> MaskLike:
        """Return the graphs that can be chosen; of a library, after the most promising products were made."""
        if self._made is not None:
            among = self._made.offer(replace(self.state, pinned=kept), count, among, self._learner.uses_columns)
            self.show(self._made.molecules, most_taught=MOST_TAUGHT)
        return among.mask(self.graph_set) if isinstance(among, Limits) else among

    def _admit(self, identifiers: Iterable[str]) -> None:
        if self._made is not None and self._made.add(identifiers):
            self.show(self._made.molecules, most_taught=MOST_TAUGHT)

    def _expect(self, indices: Sequence[int], offered: int = 0) -> tuple[Suggestion, ...]:
        return expect_all(self.state, self._agents(), indices, self.ids, offered)

    def _save(self, state: CampaignState) -> None:
        self._learner.check_results(state)
        super()._save(state)

    def _model_of(self, goal: str) -> tuple[Agent, CampaignState]:
        """Return the agent of a goal, and the campaign with this goal alone; of the first goal if none is named."""
        index = self._place_of(goal) if goal else 0
        return self._agents()[index], self.state.views()[index]

    def _agents(self, fresh: bool = False) -> list[Agent]:
        """Return the agent or, with several goals, one for each, trained on the results."""
        self._index.indices(result.id for result in self.state.measured)  # refuses those that are not in the pool
        return [self._learner.learn(view, self._index.index_of, fresh) for view in self.state.views()]
