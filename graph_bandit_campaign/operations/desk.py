"""Ask and tell a campaign by its file, as people at a page and programs do; the command may take turns with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np

from graph_bandit_campaign.command.inputs import Inputs, read_inputs
from graph_bandit_campaign.command.kept import keep_command, read_settings, repeat_command
from graph_bandit_campaign.command.question import OtherQuestionError, mark, take_results
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.command.suggestions import write_suggestions
from graph_bandit_campaign.file import (
    CampaignFile,
    ChangedError,
    StaleError,
    check_version,
    lock_campaign,
    read_digest,
)
from graph_bandit_campaign.operations.safe import check_command
from graph_bandit_campaign.operations.typed import Entry, TypedResults, take_out
from graph_bandit_campaign.pool.index import PoolIndex
from graph_bandit_campaign.records import Records
from graph_bandit_campaign.report.answer import Answer
from graph_bandit_campaign.results.books import Books
from graph_bandit_campaign.results.rows import ResultTables
from graph_bandit_campaign.state import CampaignState

FOR_A_ROUND = ("n", "maximize", "minimize", "near", "weights", "require", "forbid", "only", "price", "budget")
CHANGEABLE = frozenset((*FOR_A_ROUND, "budget_only", "at_most", "per", "ignore_failures"))
"""Settings that may be changed from one round to the next."""


@dataclasses.dataclass(frozen=True)
class Told:
    """A round of suggestions, in texts."""

    round: int
    """Its number; 1 is the first."""
    suggested: tuple[str, ...]
    """Ids of the graphs, the best first."""
    columns: tuple[str, ...]
    """Names of the columns of the table of suggestions."""
    rows: tuple[tuple[str, ...], ...]
    """A row for each suggestion: predictions, nearest measured molecules, reasons, prices and the pool's columns."""
    notes: tuple[str, ...]
    """Sentences about tables, limits, results to check, and what else is to be known."""
    outlook: str
    """Whether the pool holds a better graph, and whether to stop; empty if the agent cannot say."""


def tell_answer(answer: Answer, remarks: Sequence[str]) -> Told:
    """Put an answer into texts.

    Args:
        answer: the answer of `suggest`.
        remarks: remarks about the tables.
    """
    columns, *rows = answer.rows()
    parts = (f"{answer.pool_size:,} {answer.noun}, {len(answer.state.measured):,} results", *remarks)
    notes = [f"{', '.join(parts)}.", answer.agent_change, *answer.notes, answer.bill.sentence(), answer.way]
    return Told(
        round=len(answer.state.rounds),
        suggested=tuple(suggestion.id for suggestion in answer.suggested),
        columns=tuple(columns),
        rows=tuple(map(tuple, rows)),
        notes=tuple(filter(None, notes)),
        outlook="" if answer.outlook is None else answer.outlook.sentence(answer.target),
    )


class KnownGraphs:
    """The graphs that a campaign was told of, or has suggested.

    Args:
        state: state of the campaign.
    """

    ids: dict[str, None]
    """Their ids."""

    def __init__(self, state: CampaignState) -> None:
        suggested = (suggestion.id for suggestions in state.rounds for suggestion in suggestions)
        measured = (result.id for result in state.measured)
        marked = (*state.failed, *state.pending, *state.vetoes, *state.pinned)
        self.ids = dict.fromkeys((*measured, *marked, *state.structures, *suggested))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.ids)

    def to_pyg(self) -> NoReturn:
        """Refuse to return graphs.

        Raises:
            ValueError: in any case.
        """
        raise ValueError("Expected a pool. Here, the graphs of a campaign are known by their ids alone.")


class Desk:
    """A campaign that is asked and told by its file; each call reads the file, and saves before it returns.

    Other processes may do so at the same time: changes wait for each other, but for `suggest` and `veto`, which take
    long, and are refused if somebody has changed the file meanwhile.

    Args:
        path: path of the campaign's file.
        root: folder in which all files of the campaign have to be; None: anywhere.
        version: digest that the file is to have when it is changed; empty: any.
        workers: most processes that read molecules; 0: one for each core; None: this process itself.

    Raises:
        StaleError: a ValueError, from each call that changes something, if the file has another digest.
        ValueError: from each call, if the file is not a campaign, does not know its command, or that names code or a
            file outside of `root`.
    """

    def __init__(self, path: Path, root: Path | None = None, version: str = "", workers: int | None = 0) -> None:
        self.path, self._root, self._version, self._workers = path, root, version, workers

    def state(self) -> CampaignState:
        """Return what the file says."""
        return self._open()[1]

    def settings(self) -> SuggestSettings:
        """Return the command of the campaign."""
        return replace(check_command(repeat_command(self.state(), self.path), self._root), workers=self._workers)

    def suggest(self, changes: Mapping[str, object] | None = None, more: bool = False) -> Told:
        """Suggest what to measure next: again what was suggested, if no result has come in since.

        Args:
            changes: settings of the command to change, of `CHANGEABLE`.
            more: suggest another batch although no result came in.

        Raises:
            ChangedError: a ValueError, if another process has changed the file meanwhile.
            ValueError: as `suggest`, or if another setting is to be changed.
        """
        changes = dict(changes or {})
        if unknown := min(changes.keys() - CHANGEABLE, default=""):
            raise ValueError(f"Expected changes of {', '.join(sorted(CHANGEABLE))}. Got `{unknown}`.")
        seen, settings = read_digest(self.path), replace(self.settings(), more=more)
        fields = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
        settings = check_command(read_settings(fields | changes), self._root)
        return self._write(settings, seen)

    def record(self, entries: Sequence[Entry]) -> CampaignState:
        """Take in results that somebody typed; those that are there already are ignored.

        Raises:
            ValueError: if one cannot be understood, or is of a graph that is not in the pool.
        """
        with lock_campaign(self.path):
            settings = self.settings()
            typed = TypedResults(settings)
            read = typed.add(entries)
            settings = replace(settings, measured=tuple(dict.fromkeys((*settings.measured, typed.path))))
            if all(row.identifier in KnownGraphs(self.state()).ids for _, row in read):
                with typed.written(), self._records() as records:
                    for goal, row in read:
                        if isinstance(row.value, float):
                            name = goal if records.state.goals else ""
                            records.tell(row.identifier, row.value, row.side, name, row.noise)
                        elif row.identifier not in records.state.failed:
                            records.tell_failed(row.identifier)
                    records.note_command(keep_command(settings))
                    return records.state
            return self._take(settings, typed)

    def take_back(self, ids: Iterable[str]) -> CampaignState:
        """Take back the results of some graphs that were typed; those that were suggested are pending again.

        Raises:
            ValueError: if no result of one was typed.
        """
        with lock_campaign(self.path):
            typed, names = TypedResults(self.settings()), list(dict.fromkeys(ids))
            removed = typed.remove(names)
            if missing := set(names) - {row.identifier for _, row in removed}:
                raise ValueError(
                    f"Expected ids with results that were typed in. Got {min(missing)}. Correct results of other "
                    "tables in these."
                )
            with self._records() as records:
                records.replace_results(*take_out(records.state, removed))
            typed.write()  # last: were it cut off before, the results would be back with the next round, and none amiss
            return records.state

    def accept(self, table: Path) -> CampaignState:
        """Take in a table of results, which the command reads from now on.

        Args:
            table: path of the table.

        Raises:
            ValueError: if it cannot be understood.
        """
        with lock_campaign(self.path):
            return self._take(self._with(table))

    def preview(self, table: Path) -> Books:
        """Return what a table of results would teach, together with those so far; nothing is changed.

        Args:
            table: path of the table.

        Raises:
            ValueError: if it cannot be understood.
        """
        return self.read(self._with(table)).known.books

    def veto(self, identifier: str, reason: str = "", by: str = "") -> Told | None:
        """Say that a graph is not to be suggested. Another takes its place in the last round, whose rest stays.

        Args:
            identifier: id of the graph.
            reason: why.
            by: who says so.

        Returns:
            The last round; None if it stays without another: the graph is not in it, or results have come in since.

        Raises:
            ChangedError: a ValueError, if another process has changed the file meanwhile.
            ValueError: if there is no such graph, it has been measured, or a text is too long.
        """
        seen, last = read_digest(self.path), self.state().rounds[-1:]
        if any(identifier == suggestion.id for suggested in last for suggestion in suggested):
            settings = replace(self.settings(), veto=(f"{identifier}={reason}",), by=by)
            try:
                return self._write(settings, seen, same_round=True)
            except OtherQuestionError:  # the next round is without it; until then, one less is pending
                pass
        with self._of(identifier) as records:
            records.veto(identifier, reason, by)
        return None

    def mark(self, kind: Literal["pin", "lift", "comment"], identifier: str, *texts: str) -> CampaignState:
        """Call a method of `Campaign` that marks a graph.

        Args:
            kind: its name.
            identifier: id of the graph.
            texts: further arguments; of a comment what is said, and who says so.

        Raises:
            ValueError: as it does.
        """
        with self._of(identifier) as records:
            getattr(records, kind)(identifier, *texts)
            return records.state

    def undo(self) -> CampaignState:
        """Undo the last round, as if it had not been suggested; results stay.

        Raises:
            ValueError: if there is none.
        """
        with self._records() as records:
            records.undo_ask()
            return records.state

    def _open(self) -> tuple[CampaignFile, CampaignState]:
        file = CampaignFile(self.path)
        check_version(self.path, self._version)
        state = file.read()
        if state is None:
            raise ValueError(f"Expected a campaign. There is no file {self.path.name}.")
        return file, state

    @contextmanager
    def _records(self, inputs: Inputs | None = None) -> Iterator[Records]:
        """Yield the records of the campaign, and save what has changed; without inputs, of graphs that it knows."""
        with lock_campaign(self.path):
            file, state = self._open()
            graphs = KnownGraphs(state) if inputs is None else inputs.known.graphs
            offered = np.arange(len(graphs)) < (len(graphs) if inputs is None else len(inputs.known.in_pool))
            records = Records(PoolIndex(graphs), offered, file, state)
            with records.at_once():
                yield records

    def _write(self, settings: SuggestSettings, seen: str, same_round: bool = False) -> Told:
        """Suggest by settings that were made from the file when it had the digest `seen`."""
        try:
            return tell_answer(*write_suggestions(settings, self._version or seen, same_round, is_shown=True))
        except StaleError as error:
            if self._version:
                raise
            raise ChangedError(self.path) from error

    @contextmanager
    def _of(self, identifier: str) -> Iterator[Records]:
        """Yield the records to change what is said of a graph; the pool is read if the campaign does not know it."""
        is_known = identifier in KnownGraphs(self.state()).ids
        with self._records(None if is_known else self.read(replace(self.settings(), pin=(identifier,)))) as records:
            yield records

    def _with(self, table: Path) -> SuggestSettings:
        settings = self.settings()
        measured = tuple(dict.fromkeys((*settings.measured, table)))
        return check_command(replace(settings, measured=measured), self._root)

    def read(self, settings: SuggestSettings, typed: TypedResults | None = None) -> Inputs:
        """Read the pool and the results of a command of this campaign.

        Args:
            settings: settings of the command.
            typed: results that are typed now, perhaps.
        """
        paths = [path for path in settings.measured if typed is None or path != typed.path]
        tables = ResultTables.open(paths, settings.measured_sheet).tables
        every = [*tables, typed.table()] if typed is not None else tables
        return read_inputs(settings, self.state(), ResultTables(every, settings.measured_sheet))

    def _take(self, settings: SuggestSettings, typed: TypedResults | None = None) -> CampaignState:
        """Read pool and results, and save the results."""
        inputs = self.read(settings, typed)
        with nullcontext() if typed is None else typed.written(), self._records(inputs) as records:
            mark(records, settings, inputs.known.in_pool)
            take_results(records, inputs.known.books, inputs.known.in_pool, settings)
            records.note_command(keep_command(settings))
            return records.state
