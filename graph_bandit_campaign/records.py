"""Tell a campaign results and marks, take that back, and save it: each call as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeVar

from graph_bandit_campaign.checks import Kind
from graph_bandit_campaign.constraints.goals.goal import Goal, list_aims
from graph_bandit_campaign.forecasts import Forecasts
from graph_bandit_campaign.model import goals_choice
from graph_bandit_campaign.results.matched import Find, match_rows
from graph_bandit_campaign.results.matching import Matcher
from graph_bandit_campaign.results.rows import Columns, MeasuredRow, ResultTables
from graph_bandit_campaign.results.typed import Typed, read_typed
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.store import Change, Store
from graph_bandit_campaign.verbs import Told, mark, tell
from graph_bandit_env import MoleculeSet
from graph_bandit_env.pools import MOST_ATOMS

T = TypeVar("T")
DIRECTIONS: dict[bool | None, str] = {True: "maximize", False: "minimize"}


@dataclass(frozen=True)
class Given:
    """The arguments with which a campaign is started or goes on; None: not given."""

    maximize: bool | None
    """True if large values are wanted, False for small ones."""
    seed: int | None
    """Seed of all randomness."""
    target: str | None
    """Name of the measured quantity."""
    goals: tuple[Goal, ...] | None
    """What is wanted of several quantities."""
    kind: Kind | None = None
    """What the values of the one goal are."""

    def resume(self, saved: CampaignState | None, path: str, agent: str) -> CampaignState:
        """Return the campaign that a file holds, with the goals that are given; or a new one.

        Args:
            saved: what the file holds; None: there is none.
            path: of the file.
            agent: of a new campaign.

        Raises:
            ValueError: if the file holds a campaign with another direction, seed, target or goals.
        """
        wanted = self.wanted(saved)
        state = saved or CampaignState(
            agent, self.maximize is not False, self.seed or 0, target=self.target or "", goals=wanted
        )
        aims = None if self.goals is None else list_aims(wanted)
        pairs = {
            "direction": tuple(DIRECTIONS.get(each) for each in (self.maximize, state.maximize)),
            "seed": (self.seed, state.seed),
            "target": (self.target, state.target),
            "goals": (aims, list_aims(state.goals)),
        }
        for name, (value, before) in pairs.items():
            if value not in (None, before):
                raise ValueError(
                    f"Expected a campaign with {name} {value}. {path} has {'none' if before == '' else before}. "
                    "Use that value, or start a new campaign in another file."
                )
        kind = state.kind if self.kind is None else self.kind
        return replace(
            state.with_goals(wanted), kind=kind, told=state.told or kind != state.kind or wanted != state.goals
        )

    def wanted(self, saved: CampaignState | None) -> tuple[Goal, ...]:
        """Return what is wanted of several quantities; nothing with one.

        Raises:
            ValueError: if goals come with what one quantity has.
        """
        wanted = self.goals if self.goals is not None else saved.goals if saved else ()
        if wanted and (self.maximize, self.target, self.kind) != (None, None, None):
            raise ValueError("Expected either `goals`, or `maximize`, `target` and `kind`. Got both.")
        return wanted


class Records(Forecasts):
    """What is told, with the file in which it is saved."""

    _store: Store
    _given: Given
    _named: str | None
    _seen: CampaignState | None
    """What the store had when `state` was made of it."""

    def __copy__(self) -> Self:
        """Return a campaign that knows the same, and is not saved."""
        made = object.__new__(type(self))
        made.__dict__ |= self.__dict__ | {"_store": self._store.twin()}
        return made

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
            read, kind = read_typed(results, kind)
            has_failed = bool(read) and all(row.value == "failed" for row in read) and not goal
            names = [each.name for each in self.state.goals] if has_failed and self.state.goals else [goal]
            self._place_of(names[0])
            rows = dict.fromkeys(names, read)
        sources = {str(results): tables[0]} if tables else {}
        matched = match_rows(rows, self._finder(), several=bool(self.state.goals), sources=sources)
        places = self._index.indices(each.id for each in matched.results)
        matched = replace(matched, structures=self._index.structures(k for k in places if self._offered[k]))

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
        key = self._check_known(identifier)
        if pin:
            self._index.check_id(key)
        structures = self._index.structures(k for k in self._index.present([key]) if self._offered[k])

        def marked(state: CampaignState) -> tuple[CampaignState, None]:
            after = mark(state, key, veto, pin, comment, waits, by)
            return replace(after, structures={**after.structures, **structures}), None

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
        answers = list[T]()

        def made(newest: CampaignState | None) -> CampaignState:
            after, answer = make(self.state if newest is self._seen else self._resume(newest))
            self._learner.check_results(after)
            answers.append(answer)
            return after

        if self._seen is None and self._store.begin(self.state):
            self._seen = self.state
        self.state = self._store.change(verb, made, about, by)
        self._seen = self._store.state
        return answers[-1]

    def _refresh(self) -> None:
        """Look at what others have changed."""
        if self._store.read() is not self._seen and self._store.state is not None:
            self._seen, self.state = self._store.state, self._resume(self._store.state)

    def _resume(self, saved: CampaignState | None) -> CampaignState:
        """Return the campaign of the file as it goes on here."""
        saved = saved and saved.renamed(self._index.aliases)
        current = self._given.resume(saved, str(self._store.path), self._learner.spec)
        self._learner.check_results(current)
        return self._with_agent(current)

    def _with_agent(self, state: CampaignState) -> CampaignState:
        """Return the campaign with the agent that goes on, and the versions of all that chooses."""
        return replace(
            state,
            agent=self._learner.spec,
            algorithm=self._learner.algorithm,
            by_default=self._named is None,
            goals_algorithm=goals_choice.ALGORITHM if state.goals else state.goals_algorithm,
            failures_algorithm=self._failures.algorithm(state),
            kind=state.kind or ("" if self._learner.has_posterior else "number"),
        )

    def _finder(self) -> Find:
        """Return what finds the graph of a row in the pool: by its id, of a molecule also by its SMILES."""
        pool = self.graph_set
        matcher = Matcher(pool, {}, False, MOST_ATOMS) if isinstance(pool, MoleculeSet) else None

        def find(row: MeasuredRow) -> tuple[str, str]:
            key, form = (row.identifier, "") if matcher is None or not row.smiles else matcher.find(row)
            return self._index.check_id(key), form

        return find

    def _check_known(self, identifier: str) -> str:
        """Return the id of a graph of the pool, or of one that the campaign knows although it has left the pool."""
        if identifier in self.state.known:
            return identifier
        return self._index.check_id(identifier)
