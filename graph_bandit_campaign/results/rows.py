"""Read tables of results."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from graph_bandit_campaign.checks import check_noise, check_value
from graph_bandit_campaign.results.facts import Bound
from graph_bandit_campaign.text import find_column, sheet_remarks
from graph_bandit_env.tables import Naming, Table, find_naming, open_table

WORDS = {"failed": "failed", "fail": "failed", "pending": "pending", "running": "pending"}
BOUND = re.compile(r"(>=|<=|[<>≥≤])\s*(\S.*)", re.DOTALL)
AMONG = ", a bound such as `>4.5`, `failed`, `pending` or nothing"
SHOWN = 10  # problems in a message


@dataclass(frozen=True)
class Columns:
    """Names of columns."""

    value: str
    """Measured values: a number, `failed`, `pending`, or empty. Case of names is ignored."""
    identifier: str | None = None
    """Names of molecules, or `id` if a table lacks it."""
    smiles: str = "smiles"
    """SMILES, or `smiles` if a table lacks it."""
    features: tuple[str, ...] = ()
    """The user's own columns of numbers. A table may lack them."""
    noise: str | None = None
    """Standard deviations of the values, or None. A table may lack the column, if another one has it."""
    slots: Mapping[str, str] = field(default_factory=dict)
    """Column of each slot of the actions, by its name. If a table lacks one, its rows are identified only by name."""
    words: Mapping[str, float] = field(default_factory=dict)
    """Values of words, in lower case."""

    def naming_of(self, table: Table) -> Naming:
        """Find the columns that identify the molecules of a table: these, otherwise usual ones."""
        used = {self.value, *self.features, self.noise or "", *self.slots.values()}
        return find_naming(table, self.smiles, self.identifier, used, else_usual=True)

    def slots_of(self, table: Table) -> dict[str, str]:
        """Return the column of each slot in a table, by the name of the slot. Empty if one is missing."""
        source = str(table.path)
        found = {
            name: find_column(column, table.columns, source) or find_column(name, table.columns, source)
            for name, column in self.slots.items()
        }
        return found if all(found.values()) else {}


@dataclass(frozen=True)
class MeasuredRow:
    """A row with a result of a molecule."""

    where: str
    """File, sheet and number of the row, for messages."""
    identifier: str
    """Name, or an empty text."""
    smiles: str
    """SMILES as written, or the slots of an action as JSON, or an empty text."""
    value: float | str
    """A number, "failed" or "pending"."""
    bound: str = ""
    """The cell as written, such as ">4.5", if the value is a bound. Otherwise empty."""
    features: tuple[float, ...] = ()
    """Values of the user's own columns, NaN if unknown."""
    noise: float | None = None
    """Standard deviation of the value. None if unknown."""
    table: str = ""
    """Path of its table."""

    @property
    def side(self) -> Bound:
        """Return the side of the number on which the value lies, if it is a bound, otherwise an empty text."""
        return "" if not self.bound else "above" if self.bound[0] in ">≥" else "below"


class Results(NamedTuple):
    """The contents of tables of results."""

    rows: list[MeasuredRow]
    """Rows in their order, one table after the other."""
    remarks: list[str]
    """Remarks about the tables, for people."""
    problems: list[str]
    """Problems in other rows."""


class NoResultsError(ValueError):
    """No row of the tables has a result."""


class BadResultsError(ValueError):
    """Rows of results that are invalid. No result is used then."""

    def __init__(self, problems: Sequence[str]) -> None:
        listed = "\n".join(f"  {problem}" for problem in problems[:SHOWN])
        more = f"\n  and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        super().__init__(f"Expected valid results. Rows with problems: {len(problems)}\n{listed}{more}")


class ResultTables:
    """Tables of results, each opened and read once.

    Args:
        tables: the tables, whose records are lists.
        sheet: the sheet named by the user, for remarks.
    """

    def __init__(self, tables: Sequence[Table], sheet: str | None = None) -> None:
        self.tables, self._sheet = tuple(tables), sheet

    @classmethod
    def open(cls, paths: Iterable[Path], sheet: str | None = None) -> ResultTables:
        """Read tables.

        Args:
            paths: paths of tables that `open_table` can open.
            sheet: sheet of the tables that are workbooks. None means the first.

        Raises:
            FileNotFoundError: if a file does not exist.
            ImportError: if a package for reading it is not installed.
            ValueError: if a table cannot be read.
        """
        tables = []
        for path in paths:
            with open_table(path, sheet if path.suffix.lower() == ".xlsx" else None) as table:
                table.records = list(table.records)
                tables.append(table)
        return cls(tables, sheet)

    def __len__(self) -> int:
        return len(self.tables)

    def like(self, tables: Sequence[Table]) -> ResultTables:
        """Return other tables with the same sheet."""
        return ResultTables(tables, self._sheet)

    @property
    def headers(self) -> list[Sequence[str]]:
        """Return the columns of each table."""
        return [table.columns for table in self.tables]

    def having(self, name: str) -> ResultTables:
        """Return the tables that have a column, ignoring case."""
        return self.like([table for table in self.tables if find_column(name, table.columns, str(table.path))])

    def look(self, columns: Columns) -> Results:
        """Return the rows that have a result, and the problems of other rows. See `read` for arguments and errors."""
        found = Results([], [], [])
        for table in self.tables:
            naming = columns.naming_of(table)
            _read_rows(replace(table, problems=[*table.problems]), columns, naming, found)
            found.remarks.extend([*naming.remarks, *sheet_remarks(table, self._sheet, "--measured-sheet")])
        return found

    def read(self, columns: Columns) -> Results:
        """Return the rows that have a result: a number, `failed` or `pending`.

        Args:
            columns: names of the columns. The tables need `value`, and `identifier` or `smiles`.

        Raises:
            BadResultsError: a ValueError that lists the rows with invalid values.
            NoResultsError: a ValueError, if no row has a result.
            ValueError: if a column is missing.
        """
        found = self.look(columns)
        if found.problems:
            raise BadResultsError(found.problems)
        if columns.noise is not None and not self.having(columns.noise):
            listed = ", ".join(dict.fromkeys(name for names in self.headers for name in names))
            raise ValueError(f"No table of results has a column `{columns.noise}` (--noise). They have {listed}.")
        if not found.rows:
            raise NoResultsError(f"Column `{columns.value}` has no value.")
        return found


def read_cell(cell: str, table: Table) -> tuple[float | str | None, str]:
    """Return the value of a cell (number, "failed", "pending", or None if empty), and the text of a bound.

    Args:
        cell: its text, stripped of whitespace.
        table: parses its numbers.

    Raises:
        ValueError: if it is invalid, or agents cannot learn from the number.
    """
    bound = BOUND.fullmatch(cell)
    among, text = (f" after `{bound[1]}`", bound[2]) if bound else (AMONG, cell)
    value = WORDS.get(cell.lower()) or table.number(text, among)
    if isinstance(value, str) or (value is None and not bound):
        return value, ""
    return check_value(cell, math.nan if value is None else value), cell if bound else ""


def _read_rows(table: Table, columns: Columns, naming: Naming, found: Results) -> None:
    """Append the rows of a table, and its problems, to those found."""
    source, (smiles, identifier, _), listed = str(table.path), naming, ", ".join(table.columns)
    slots = columns.slots_of(table)
    smiles = "" if columns.slots else smiles
    features = {name: header for name in columns.features if (header := find_column(name, table.columns, source))}
    target = find_column(columns.value, table.columns, source) or columns.value
    noise = find_column(columns.noise, table.columns, source) if columns.noise else ""
    if not (smiles or identifier or slots) and target in table.columns:
        wanted = ", ".join(columns.slots.values()) if columns.slots else "`id` or `smiles`"
        raise ValueError(f"{table.path} has no column {wanted}. Name one by `--id` or `--smiles`: {listed}.")
    bad: list[tuple[int, str]] = []
    read = [*dict.fromkeys(filter(None, (target, identifier, smiles, *features.values(), noise, *slots.values())))]
    for number, row in table.rows(read):
        cells = dict(zip(read, row, strict=True))
        name, text, word = cells.get(identifier, ""), cells.get(smiles, ""), cells[target].casefold()
        text = json.dumps({slot: table.plain(cells[column]) for slot, column in slots.items()}) if slots else text
        try:
            value, bound = (columns.words[word], "") if word in columns.words else read_cell(cells[target], table)
            if value is None:
                continue
            given = {key: table.side_value(cells[header], header) for key, header in features.items()}
            is_noisy = noise and not isinstance(value, str)
            deviation = table.number(cells[noise], f" above 0 in `{noise}`") if is_noisy else None
            check_noise(cells[target], deviation, bound)
            if not (name or text):
                raise ValueError(f"a value without a molecule. Its columns are {listed}.")
        except ValueError as error:
            bad.append((number, str(error)))
            continue
        sides = tuple(given.get(column, math.nan) for column in columns.features)
        found.rows.append(MeasuredRow(table.where(number), name, text, value, bound, sides, deviation, source))
    found.problems.extend(f"{table.where(number)}: {text}" for number, text in sorted([*table.problems, *bad]))
