"""Ask a campaign which graphs to measure next, and report the results to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import SupportsIndex

from agents.contract import SourceResults
from graph_bandit_campaign.assays.tables import OtherAssay, sources_of, tables_of
from graph_bandit_campaign.checks import Kind, check_flag, check_integer
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.constraints.limits.limits import Limits
from graph_bandit_campaign.model.choice import check_batch, check_kept, choose_batch, spare_likely, split_round
from graph_bandit_campaign.model.failures import FailureLearner
from graph_bandit_campaign.model.goals_choice import GoalsChooser
from graph_bandit_campaign.model.learner import DEFAULT, Learner, default_agent
from graph_bandit_campaign.notebook import Suggestions
from graph_bandit_campaign.pool.index import MaskLike, PoolIndex, PoolLike
from graph_bandit_campaign.pool.prepared.pool import PreparedPool
from graph_bandit_campaign.records import Records
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_campaign.store import ChangedError, Store
from graph_bandit_campaign.text import short
from graph_bandit_campaign.verbs import add_round, resume, say_ending, without_last_round
from graph_bandit_env.files import as_pool
from graph_bandit_lab import AgentSpec


class Campaign(Records):
    """Choose graphs of a pool to measure, a few at a time, for as many rounds as needed.

    Results may arrive in any order, or not at all. With `state`, each call saves the campaign to that file before it
    returns, and a new `Campaign` with the same file resumes it. Several processes take turns. The agent is retrained
    from the measurements, so its suggestions depend only on them, on the pending graphs, and on the seed.

    Args:
        graph_set: K graphs, with `ids` if they have names (as in a `GraphPool` or a `MoleculeSet`). Columns of a
            `MoleculeSet` help to predict. A `PreparedPool` is read into memory, unlike in the command `suggest`. A
            path, a DataFrame and a list of SMILES or graphs are read by `graph_bandit_env.files.as_pool`.
        agent: as on the command line, `name:setting=value,...`. "default" depends on the batch size (`default_agent`).
            None means the agent of the file, otherwise "default". An agent other than a `BatchAgent` chooses graphs one
            by one, without predictions. An agent of a file, `module:factory`, must be given each time.
        maximize: True if large values are good, False if small values are good. None means True.
        seed: seed of all randomness. None means 0.
        target: name of the measured quantity. A campaign file with another target is rejected. None means no name.
        state: file of the campaign. None means that it is not saved. If the file exists, arguments above that are None
            are read from it. The agent may differ from the file, but not the direction, seed or target.
        offered: `(K,)` bool. Graphs that can be suggested, or None for all. Results of other graphs are accepted.
        goals: goals for several measured quantities, instead of `maximize` and `target`. None means one quantity, or
            the goals of the file, whose ranges and weights may change. With several goals, agents choose by upper
            bounds instead of their rule. If a limit is removed, its results are removed from the file.
        ignore_failures: True if failures are not used to predict failures of other graphs.
        related_assays: results of other assays by the name of the assay, and by id or (for molecules in the pool or
            not) by SMILES: numbers, bounds (">4.5") or two classes. They are not saved, so pass them each time. They
            need a `molecule-` or `gp-` agent. With several goals, each goal learns from all of them.
        kind: "class" if the values are classes, 1 (or True) for a hit and 0 otherwise. "number" if they are numbers,
            even if all are 0 and 1. None means the kind in the file, otherwise a class if all values are 0 and 1 in the
            first `ask` with both. Agents other than `molecule-` and `gp-` treat classes as numbers.

    Raises:
        ValueError: if the agent is unknown, does not use the columns of the molecules, cannot choose for several goals,
            a flag or a mask is not of bools, or the file holds a campaign with another direction, seed, target or
            goals.
    """

    def __init__(
        self,
        graph_set: PoolLike | PreparedPool | str | Path | Iterable[object],
        agent: str | None = None,
        *,
        maximize: bool | None = None,
        seed: SupportsIndex | None = None,
        target: str | None = None,
        state: str | Path | Store | None = None,
        offered: MaskLike = None,
        goals: Sequence[Goal] | None = None,
        ignore_failures: bool = False,
        related_assays: Mapping[str, OtherAssay] | tuple[SourceResults, ...] | None = None,
        kind: Kind | None = None,
    ) -> None:
        self._store = state if isinstance(state, Store) else Store(state)
        saved = self._store.state
        self.graph_set = graph_set = graph_set.load() if isinstance(graph_set, PreparedPool) else as_pool(graph_set)
        self._ignores = check_flag("ignore_failures", ignore_failures)
        self._failures, self._index = FailureLearner(len(graph_set), self._ignores), PoolIndex(graph_set)
        self._offered = self._index.mask("offered", offered) & self._index.suggestible()
        path, new = str(self._store.path), agent or DEFAULT
        self._resume = partial(
            resume, path=path, agent=new, maximize=maximize, seed=seed, target=target, goals=goals, kind=kind
        )
        several = bool(self._resume(saved).goals)
        AgentSpec.admit([agent] if agent else [])
        named = agent or (saved.agent if saved and not saved.by_default else DEFAULT)
        self._named = None if named == DEFAULT else named
        size = len(saved.rounds[-1]) if saved and saved.rounds else 1
        spec = self._named or default_agent(graph_set, size, several)
        related = related_assays or {}
        sources = related if isinstance(related, tuple) else sources_of(tables_of(related, graph_set), graph_set)[0]
        self._learner = Learner(graph_set, spec, several, sources=sources)
        self.state = self._continued(saved)
        self.choose_agent(size)

    def __repr__(self) -> str:
        return f"Campaign({'; '.join(f'{name}: {text}' for name, text in self._summary().items())})"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in self._summary().items())
        waiting = [each for batch in self.state.rounds[-1:] for each in batch if each.id in self.state.pending]
        shown = Suggestions(waiting, self._index.written(self._index.present(each.id for each in waiting)))
        return f"<table>{rows}</table>{shown._repr_html_() if waiting else ''}"

    def _summary(self) -> dict[str, str]:
        """Return the lines of the notebook card."""
        state = self.state
        aim = "maximize" if state.maximize else "minimize"
        counts = {"measured": len(state.settled()), "failed": len(state.failed), "pending": len(state.pending)}
        lines: dict[str, str] = {
            "pool": f"{len(self.graph_set):,} graphs",
            "goal": ", ".join(goal.text for goal in state.goals) or f"{aim} {state.target or 'the measured value'}",
            "agent": state.agent,
            "results": ", ".join(f"{number:,} {name}" for name, number in counts.items() if number) or "none",
        }
        leader = None if state.goals or state.is_class else state.leader()
        return lines | ({"best": f"{short(leader[1])} ({leader[0]})"} if leader else {})

    def show(self, graph_set: PoolLike, offered: MaskLike = None, most_taught: int | None = None) -> None:
        """Replace the graphs by others of the same pool, which must include all known graphs.

        Args:
            graph_set: K graphs.
            offered: `(K,)` bool. Graphs that can be suggested, or None for all.
            most_taught: maximum number of graphs with results for training. None means all.

        Raises:
            ValueError: if the mask does not fit, or the agent cannot play these graphs.
        """
        index = PoolIndex(graph_set)
        mask = index.mask("offered", offered) & index.suggestible()
        learner = self._learner.like(graph_set, self._learner.spec, most_taught)
        self.graph_set, self._learner, self._index, self._offered = graph_set, learner, index, mask
        self._failures = FailureLearner(len(graph_set), self._ignores)

    def choose_agent(self, count: int) -> None:
        """Use the named agent or, if no agent was named, the default for this batch size. `ask` calls this.

        Args:
            count: number of graphs to choose.
        """
        spec = self._named or default_agent(self.graph_set, count, bool(self.state.goals))
        if spec != self._learner.spec:
            self._learner = self._learner.like(self.graph_set, spec, self._learner.most)
        self.state = self._with_agent(self.state)

    def ask(
        self,
        count: SupportsIndex = 1,
        among: MaskLike | Limits = None,
        constraints: BatchConstraints | None = None,
        keep: Iterable[str] | None = None,
    ) -> Suggestions:
        """Choose graphs that are neither measured, pending, failed nor vetoed, and mark them as pending.

        Graphs that are likely to fail are avoided while others are available, see `failing`. Pending graphs that are no
        longer in the pool do not affect the choice. If another process changes the campaign meanwhile, the choice is
        repeated.

        Args:
            count: number of graphs to choose. If fewer are available, all of them are chosen.
            among: `(K,)` bool mask of the graphs that can be chosen this time, or limits on them. None means all that
                are offered.
            constraints: prices, a budget, and caps on groups, or None. With a budget, fewer graphs may be chosen.
            keep: ids of graphs that must be in the batch. None means the pinned graphs.

        Returns:
            The graphs in the order of choice, with their predictions, as a tuple that notebooks show as a table. If no
            graph is available, it is empty, no round is added, and `note` has the explanation.

        Raises:
            ValueError: if a measured or failed graph is not in the pool, a pinned graph cannot be chosen, or the
                constraints allow too few graphs (see `choose_batch`).
        """
        count = check_integer("count", count, smallest=1)
        try:
            self._refresh()
            return self._ask(count, among, constraints, keep)
        except ChangedError:
            with self._store.locked():
                self._refresh()
                return self._ask(count, among, constraints, keep)

    def _ask(
        self, count: int, among: MaskLike | Limits, constraints: BatchConstraints | None, keep: Iterable[str] | None
    ) -> Suggestions:
        suggested, chosen = self._choose(count, among, constraints, keep)
        if not suggested:
            return Suggestions(note=say_ending(self.state, "all candidates on offer"))
        self._suggest(lambda state: add_round(state, suggested), chosen, f"round {len(self.state.rounds) + 1}")
        return Suggestions(suggested, self._index.written(chosen))

    def another(self, among: MaskLike | Limits = None, constraints: BatchConstraints | None = None) -> Suggestions:
        """Replace the vetoed suggestions of the last round, and return the new ones.

        Args:
            among: as in `ask`.
            constraints: as in `ask`, for the whole round.

        Raises:
            ValueError: as `ask`, or if no suggestion of the last round is vetoed.
        """
        self._refresh()
        known, (waiting, done, gone) = self.state, split_round(self.state)
        keep = (*waiting, *known.waiting_pins()[:gone])
        self.state = without_last_round(known)
        try:
            suggested, chosen = self._choose(len(waiting) + gone, among, constraints, keep)
        finally:
            self.state = known

        def replaced(state: CampaignState) -> CampaignState:
            rounds = (*state.rounds[:-1], (*done, *suggested))
            return replace(state, rounds=rounds).waiting_for((*state.pending, *(each.id for each in suggested)))

        self._suggest(replaced, chosen, f"others for round {len(known.rounds)}")
        new = [each for each in suggested if each.id not in waiting]
        return Suggestions(new, self._index.written(self._index.present(each.id for each in new)))

    def _choose(
        self, count: int, among: MaskLike | Limits, constraints: BatchConstraints | None, keep: Iterable[str] | None
    ) -> tuple[tuple[Suggestion, ...], Sequence[int]]:
        """Return graphs with their predictions, and their indices, without changing the state."""
        kept = self.state.waiting_pins() if keep is None else (*keep,)
        among = among.mask(self.graph_set) if isinstance(among, Limits) else among
        mask, under_way = self.on_offer(among), self._index.present(self.state.pending)
        first, constraints = check_kept(kept, self._index.index_of, mask), constraints or BatchConstraints()
        wanted = min(count, int(mask.sum()))
        if not wanted:
            return (), ()
        check_batch(wanted, mask, constraints)
        self.choose_agent(count)
        agents, failing = self._agents(fresh=True), self.failing()
        chooser = GoalsChooser(self.state, agents, self._index) if self.state.goals else agents[0]
        if failing.teaches:
            mask = spare_likely(wanted, mask, failing.likely, failing.probability, constraints)
            mask[first] = True
        chosen = choose_batch(chooser, wanted, mask, under_way, constraints, first)
        suggested = self._expect(chosen, int(mask.sum()))
        if self.state.is_class:
            suggested = tuple(sorted(suggested, key=lambda each: -(each.probability or 0.0)))
        return suggested, chosen

    def _suggest(self, make: Callable[[CampaignState], CampaignState], chosen: Sequence[int], about: str) -> None:
        """Save a choice, unless another process has changed the campaign since the choice was made."""
        known, structures = self.state, self._index.structures(chosen)

        def suggested(state: CampaignState) -> tuple[CampaignState, None]:
            if replace(state, comments=()) != replace(known, comments=()):
                raise ChangedError(self._store.path)
            kind, every = "class" if state.is_class else state.kind, {**state.structures, **structures}
            return make(replace(state, kind=kind, structures=every)), None

        self.change("ask", suggested, about)
