"""The results that people type, or programs send: kept in a table next to the campaign, which `suggest` reads too."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.report.tables import write_table
from graph_bandit_campaign.results.classes import read_classes
from graph_bandit_campaign.results.measurement import Measurement
from graph_bandit_campaign.results.rows import Columns, MeasuredRow, NoResultsError, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import shield, unshield
from graph_bandit_env.storage import replace_file
from graph_bandit_env.tables import Table, open_table

ENDING = ".results.csv"
ID = "id"
WANTED = "Expected a number, a bound such as `>4.5`, or `failed`."


@dataclass(frozen=True)
class Entry:
    """A result, as it is typed."""

    id: str
    """Id of the graph."""
    value: str
    """As in the cell of a table: a number, a bound such as `>4.5`, or `failed`."""
    goal: str = ""
    """Name of the measured quantity; it may be left out with one goal."""
    noise: str = ""
    """Standard deviation of the value; empty: it is not known."""

    def __post_init__(self) -> None:
        for name in ("id", "value", "goal", "noise"):
            text = getattr(self, name)
            if not isinstance(text, str) or (text and not text.isprintable()):
                raise ValueError(f"Expected `{name}` to be a line of text. Got {text!r}.")
        if not self.id.strip() or not self.value.strip():
            raise ValueError(f"Expected an id and a value. Got {self.id!r}, {self.value!r}.")


class TypedResults:
    """The table of the results that were typed into a campaign.

    Args:
        settings: settings of the campaign's command.
    """

    def __init__(self, settings: SuggestSettings) -> None:
        self._settings = settings
        self.path = path_of_typed(settings.state)
        self.columns: list[str] = [ID]
        self.rows: list[dict[str, str]] = []
        if self.path.is_file():
            with open_table(self.path) as table:
                if table.decimal != ".":
                    raise ValueError(f"Expected commas between cells, and decimal points, in {self.path.name}.")
                self.columns = [*table.columns]
                self.rows = [dict(zip(self.columns, cells, strict=True)) for _, cells in table.rows(self.columns)]

    def add(self, entries: Sequence[Entry]) -> list[tuple[str, MeasuredRow]]:
        """Add results, but for those that are there already; return all of them as they are read, with their goals.

        Raises:
            ValueError: if one cannot be understood; none is added then.
        """
        goals = self._settings.quantities
        rows: list[dict[str, str]] = []
        read: list[tuple[str, MeasuredRow]] = []
        for entry in entries:
            goal, noise = entry.goal or goals[0], self._settings.noise
            if goal not in goals or (not entry.goal and len(goals) > 1):
                raise ValueError(f"Expected `goal` to be one of {', '.join(goals)}. Got {entry.goal!r}.")
            row = {ID: shield(entry.id.strip()), goal: entry.value.strip()}
            if entry.noise.strip() and noise is None:
                raise ValueError(
                    f"Expected no noise: this campaign has no column for it (--noise). Got {entry.noise!r}, {entry.id}."
                )
            if entry.noise.strip() and noise is not None:
                row[noise] = entry.noise.strip()
            read.append((goal, self._read(row, goal)))
            if not any({name: text for name, text in other.items() if text} == row for other in self.rows + rows):
                rows.append(row)
        self.rows += rows
        self.columns = list(dict.fromkeys((*self.columns, *(name for row in rows for name in row))))
        return read

    def remove(self, ids: Collection[str]) -> list[tuple[str, MeasuredRow]]:
        """Remove all results of some graphs; return them with their goals."""
        gone = [row for row in self.rows if unshield(row.get(ID, "")) in ids]
        self.rows = [row for row in self.rows if unshield(row.get(ID, "")) not in ids]
        return [(goal, self._read(row, goal)) for row in gone for goal in self._settings.quantities if row.get(goal)]

    def table(self) -> Table:
        """Return the results as an open table, whether it is written or not."""
        return Table(self.path, tuple(self.columns), list(enumerate(self._cells(), start=2)))

    def write(self) -> None:
        """Write the table."""
        replace_file(self.path, write_table(self.path, [self.columns, *self._cells()]))

    def _cells(self) -> list[list[str]]:
        return [[row.get(name, "") for name in self.columns] for row in self.rows]

    @contextmanager
    def written(self) -> Iterator[None]:
        """Write the table, for a `with` block; if that fails, the table is as it was."""
        before = self.path.read_bytes() if self.path.is_file() else None
        self.write()
        try:
            yield
        except BaseException:
            if before is None:
                self.path.unlink(missing_ok=True)
            else:
                replace_file(self.path, before)
            raise

    def _read(self, row: Mapping[str, str], goal: str) -> MeasuredRow:
        """Read a row as `suggest` reads it.

        Raises:
            ValueError: if it cannot be understood.
        """
        noise = self._settings.noise if row.get(self._settings.noise or "") else None
        table = Table(self.path, tuple(row), [(2, [*row.values()])])
        try:
            read = read_classes(ResultTables([table]), goal)[0].read(Columns(goal, ID, noise=noise)).rows[0]
        except NoResultsError as error:
            raise ValueError(f"{WANTED} Got {row[goal]!r} for `{unshield(row[ID])}`.") from error
        if read.value == "pending":
            raise ValueError(f"{WANTED} Got `pending`, which a suggestion is until there is a result.")
        return replace(read, identifier=unshield(read.identifier))


def take_out(
    state: CampaignState, rows: Sequence[tuple[str, MeasuredRow]]
) -> tuple[list[Measurement], list[str], list[str]]:
    """Return the results, failed and pending graphs of a campaign without some results.

    Args:
        state: state of the campaign.
        rows: the results, with their goals.
    """
    ids = {row.identifier for _, row in rows}
    gone = {(row.identifier, row.value, row.side, goal if state.goals else "", row.noise) for goal, row in rows}
    measured = [each for each in state.measured if (each.id, each.value, each.bound, each.goal, each.noise) not in gone]
    failures = {row.identifier for _, row in rows if row.value == "failed"}
    failed = [key for key in state.failed if key not in failures]
    settled = {*CampaignState("", True, 0, tuple(measured), goals=state.goals).settled(), *failed, *state.vetoes}
    suggested = [suggestion.id for suggestions in state.rounds for suggestion in suggestions if suggestion.id in ids]
    pending = [key for key in dict.fromkeys((*state.pending, *suggested)) if key not in settled]
    return measured, failed, pending


def path_of_typed(state: Path) -> Path:
    """Return the path of the table of typed results of a campaign.

    Args:
        state: path of the campaign's file.
    """
    return state.with_name(state.name.removesuffix(".campaign.json") + ENDING)
