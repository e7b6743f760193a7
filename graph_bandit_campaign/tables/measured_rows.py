"""Read tables of results."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from agents.contract import LARGEST_REWARD
from graph_bandit_campaign.limits.names import find_column
from graph_bandit_campaign.state import Bound
from graph_bandit_env.tables import Table, open_table

STATES = ("failed", "pending")
WORDS = {"failed": "failed", "fail": "failed", "pending": "pending", "running": "pending"}
BOUND = re.compile(r"(>=|<=|[<>≥≤])\s*(\S.*)", re.DOTALL)
AMONG = ", a bound such as `>4.5`, `failed`, `pending` or nothing"
SHOWN = 10  # problems in a message


@dataclass(frozen=True)
class Columns:
    """Names of columns."""

    value: str
    """Measured values: a number, `failed`, `pending`, or nothing. Capitals of names do not count."""
    identifier: str | None = None
    """Names of molecules; `id` where a table lacks it."""
    smiles: str = "smiles"
    """SMILES; `smiles` where a table lacks it."""
    features: tuple[str, ...] = ()
    """The user's own columns of numbers; a table may lack them."""
    noise: str | None = None
    """Standard deviations of the values; None: there is no such column. A table may lack it, if another one has it."""


@dataclass(frozen=True)
class MeasuredRow:
    """A row with a result of a molecule."""

    place: str
    """File, sheet and number of the row, for messages."""
    identifier: str
    """Name; empty if there is none."""
    smiles: str
    """SMILES as written; empty if there is none."""
    value: float | str
    """A number, "failed" or "pending"."""
    bound: str = ""
    """The cell as written, such as ">4.5", if the value is only known to be above or below the number; else empty."""
    features: tuple[float, ...] = ()
    """Values of the user's own columns, NaN where one is not known."""
    noise: float | None = None
    """Standard deviation of the value; None: it is not known."""

    @property
    def side(self) -> Bound:
        """Return on which side of the number the value lies, if only that is known; else an empty text."""
        return "" if not self.bound else "above" if self.bound[0] in ">≥" else "below"


class Results(NamedTuple):
    """The contents of tables of results."""

    rows: list[MeasuredRow]
    """Rows in their order, one table after the other."""
    remarks: list[str]
    """Remarks about the tables, for people."""


class NoResultsError(ValueError):
    """No row of the tables has a result."""


class BadResultsError(ValueError):
    """Rows of results that cannot be understood; no result is used then."""

    def __init__(self, problems: Sequence[str]) -> None:
        listed = "\n".join(f"  {problem}" for problem in problems[:SHOWN])
        more = f"\n  and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        super().__init__(f"Expected results that can be understood. {len(problems)} rows cannot:\n{listed}{more}")


def read_measured(paths: Iterable[Path], columns: Columns, sheet: str | None = None) -> Results:
    """Read the rows of tables that have a result: a number, `failed` or `pending`.

    Args:
        paths: paths of tables that `open_table` can open.
        columns: names of the columns; the tables need `value`, and `identifier` or `smiles`.
        sheet: sheet of the tables that are workbooks; None: the first.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if a package that reads it is not installed.
        BadResultsError: a ValueError that lists the rows with a value that cannot be understood.
        NoResultsError: a ValueError, if no row has a result.
        ValueError: if a table cannot be read, or a column is missing.
    """
    rows: list[MeasuredRow] = []
    remarks: list[str] = []
    problems: list[str] = []
    listed, has_noise = list[str](), columns.noise is None
    for path in paths:
        with open_table(path, sheet if path.suffix.lower() == ".xlsx" else None) as table:
            _read_rows(table, columns, rows, problems)
            has_noise = has_noise or bool(columns.noise and find_column(columns.noise, table.columns, str(path)))
            listed += table.columns
            remarks += [*sheet_remarks(table, sheet, "--measured-sheet"), *_likeness_remarks(table, columns.value)]
    if problems:
        raise BadResultsError(problems)
    if not has_noise:
        raise ValueError(
            f"Expected a column `{columns.noise}` (--noise) in a table of results. They have "
            f"{', '.join(dict.fromkeys(listed))}."
        )
    if not rows:
        raise NoResultsError(
            f"Expected at least one value in column `{columns.value}`. Got none. Leave out `--measured` to get a first "
            "batch, suggested from the structures alone."
        )
    return Results(rows, remarks)


def read_open_table(table: Table, columns: Columns) -> list[MeasuredRow]:
    """Read the results of one table.

    Args:
        table: an open table.
        columns: names of columns.

    Raises:
        BadResultsError, NoResultsError, ValueError: as `read_measured`.
    """
    rows: list[MeasuredRow] = []
    problems: list[str] = []
    _read_rows(table, columns, rows, problems)
    if problems:
        raise BadResultsError(problems)
    if not rows:
        raise NoResultsError(f"Expected at least one value in column `{columns.value}`. Got none.")
    return rows


def find_tables(paths: Iterable[Path], names: Iterable[str], sheet: str | None = None) -> dict[str, tuple[Path, ...]]:
    """Return the tables that have each of some columns, whose capitals do not count, by the name of the column.

    Args:
        paths: paths of tables that `open_table` can open.
        names: names of columns.
        sheet: sheet of the tables that are workbooks; None: the first.
    """
    columns_of = read_headers(paths, sheet)
    return {
        name: tuple(path for path, columns in columns_of.items() if find_column(name, columns, str(path)))
        for name in names
    }


def read_headers(paths: Iterable[Path], sheet: str | None = None) -> dict[Path, Sequence[str]]:
    """Return the columns of each of some tables; arguments as for `find_tables`."""
    columns_of: dict[Path, Sequence[str]] = {}
    for path in paths:
        with open_table(path, sheet if path.suffix.lower() == ".xlsx" else None) as table:
            columns_of[path] = table.columns
    return columns_of


def sheet_remarks(table: Table, sheet: str | None, option: str) -> list[str]:
    """Say which of several sheets of a workbook was read, if the user did not name one, and that hidden rows were."""
    remarks = [f"{table.hidden:,} hidden rows of {table.path.name} read, too"] * bool(table.hidden)
    if sheet is None and len(table.sheets) > 1:
        which = f"the first of {len(table.sheets)} ({option} names another)"
        remarks.append(f"sheet `{table.sheet}` of {table.path.name} read, {which}")
    return remarks


def _likeness_remarks(table: Table, column: str) -> list[str]:
    """Say which column was read where another one differs from it in capitals alone."""
    names = table.columns if column in table.columns else ()
    alike = [name for name in names if name != column and name.casefold() == column.casefold()]
    return [f"column `{column}` of {table.path.name} read, not `{name}`" for name in alike]


def _read_rows(table: Table, columns: Columns, rows: list[MeasuredRow], problems: list[str]) -> None:
    """Append the rows of a table to `rows`, and its problems to `problems`."""
    # The columns that the user named, or `id` and `smiles` as `suggest` writes them.
    source = str(table.path)
    identifier, smiles = (
        find_column(name or usual, table.columns, source) or find_column(usual, table.columns, source)
        for name, usual in ((columns.identifier, "id"), (columns.smiles, "smiles"))
    )
    known = [*filter(None, (identifier, smiles))]
    features = {name: here for name in columns.features if (here := find_column(name, table.columns, source))}
    target = find_column(columns.value, table.columns, source) or columns.value
    noise = find_column(columns.noise, table.columns, source) if columns.noise else ""
    listed = ", ".join(table.columns)
    if not known and target in table.columns:
        raise ValueError(
            f"Expected a column `id` or `smiles` in {table.path}, to identify the molecules. It has {listed}: name one "
            "by `--id` or `--smiles`."
        )
    bad: list[tuple[int, str]] = []
    for number, (cell, *others) in table.rows([target, *known, *features.values(), *filter(None, [noise])]):
        names = others[: len(known)]
        try:
            bound = BOUND.fullmatch(cell)
            among, text = (f" after `{bound[1]}`", bound[2]) if bound else (AMONG, cell)
            value = WORDS.get(cell.lower()) or table.number(text, among)
            if bound and value is None:
                raise ValueError(f"expected a number after `{bound[1]}`. Got {cell!r}.")
            if isinstance(value, float) and abs(value) > LARGEST_REWARD:
                raise ValueError(f"expected a number from -{LARGEST_REWARD:g} to {LARGEST_REWARD:g}. Got {cell!r}.")
        except ValueError as error:
            bad.append((number, str(error)))
            continue
        if value is None:
            continue
        try:
            cells = others[len(known) : len(known) + len(features)]
            given = dict(zip(features, map(table.side_value, cells, features.values()), strict=True))
            deviation = _read_noise(table, others[-1], noise, bool(bound)) if noise and value not in STATES else None
        except ValueError as error:
            bad.append((number, str(error)))
            continue
        if not any(names):
            bad.append((number, f"a value without a molecule; its columns are {listed}."))
            continue
        named = dict(zip(known, names, strict=True))
        name, text = named.get(identifier, ""), named.get(smiles, "")
        sides = tuple(given.get(column, math.nan) for column in columns.features)
        rows.append(MeasuredRow(table.place(number), name, text, value, cell if bound else "", sides, deviation))
    problems += [f"{table.place(number)}: {text}" for number, text in sorted([*table.problems, *bad])]


def _read_noise(table: Table, cell: str, column: str, bounded: bool) -> float | None:
    """Return the standard deviation in a cell; None for an empty one.

    Raises:
        ValueError: if it is not a number above 0, or only a bound on the value is known.
    """
    noise = table.number(cell, f" above 0 in `{column}`, the noise of the value, or nothing")
    if noise is not None and not 0 < noise <= LARGEST_REWARD:
        raise ValueError(f"expected a number above 0 in `{column}`, the noise of the value, or nothing. Got {cell!r}.")
    if noise is not None and bounded:
        raise ValueError(f"expected nothing in `{column}` next to a bound, which has no noise. Got {cell!r}.")
    return noise
