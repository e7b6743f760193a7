"""Tables of results that people keep in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from graph_bandit_env.tables import Table, open_table

WORDS = {"failed": "failed", "fail": "failed", "pending": "pending", "running": "pending"}
AMONG = ", `failed`, `pending` or nothing"
SHOWN = 10  # problems in a message


@dataclass(frozen=True)
class Columns:
    """How columns are called."""

    value: str
    """Measured values: a number, `failed`, `pending`, or nothing."""
    identifier: str | None = None
    """Names of molecules."""
    smiles: str = "smiles"
    """SMILES."""


@dataclass(frozen=True)
class MeasuredRow:
    """A row that says something about a molecule."""

    place: str
    """Where the row is, for people."""
    identifier: str
    """Name; empty where there is none."""
    smiles: str
    """SMILES as written; empty where there is none."""
    value: float | str
    """A number, "failed" or "pending"."""


class Results(NamedTuple):
    """What tables of results say."""

    rows: list[MeasuredRow]
    """In their order, one table after the other."""
    remarks: list[str]
    """What people should know of the tables."""


class BadResultsError(ValueError):
    """Rows that cannot be understood; nothing is taken from the file then."""

    def __init__(self, problems: Sequence[str]) -> None:
        listed = "\n".join(f"  {problem}" for problem in problems[:SHOWN])
        more = f"\n  and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        super().__init__(f"Expected results that can be understood. {len(problems)} rows cannot:\n{listed}{more}")


def read_measured(paths: Iterable[Path], columns: Columns, sheet: str | None = None) -> Results:
    """Read the rows of some tables that say something: a value, or that there is or will be none.

    Args:
        paths: of tables, as `open_table` opens them.
        columns: `value` is needed, and `identifier` or `smiles`.
        sheet: of those that are workbooks; None: the first.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if a package that reads it is not installed.
        BadResultsError: a ValueError, with the place of each row whose value cannot be understood.
        ValueError: if a table cannot be read, a column is missing, or no row says anything.
    """
    rows: list[MeasuredRow] = []
    remarks: list[str] = []
    problems: list[str] = []
    for path in paths:
        with open_table(path, sheet if path.suffix.lower() == ".xlsx" else None) as table:
            _read_rows(table, columns, rows, problems)
            remarks += sheet_remarks(table, sheet, "--measured-sheet")
    if problems:
        raise BadResultsError(problems)
    if not rows:
        raise ValueError(
            f"Expected at least one value in column `{columns.value}`. Got none. Without `--measured` a first batch is "
            "suggested from what the molecules look like alone."
        )
    return Results(rows, remarks)


def sheet_remarks(table: Table, sheet: str | None, option: str) -> list[str]:
    """Say which sheet of a workbook was read, where nobody had named one of several."""
    if sheet is not None or len(table.sheets) < 2:
        return []
    return [
        f"sheet `{table.sheet}` of {table.path.name} read, the first of {len(table.sheets)} ({option} names another)"
    ]


def _read_rows(table: Table, columns: Columns, rows: list[MeasuredRow], problems: list[str]) -> None:
    """Append the rows of a table, and what is wrong with others."""
    # The columns that were named, or `id` and `smiles` as `suggest` writes them.
    identifier = columns.identifier if columns.identifier in table.columns else "id"
    smiles = columns.smiles if columns.smiles in table.columns else "smiles"
    known = [name for name in (identifier, smiles) if name in table.columns]
    listed = ", ".join(table.columns)
    if not known and columns.value in table.columns:
        raise ValueError(
            f"Expected a column `id` or `smiles` in {table.path}, to know the molecules by. It has {listed}: name one "
            "by `--id` or `--smiles`."
        )
    bad: list[tuple[int, str]] = []
    for number, (cell, *names) in table.rows([columns.value, *known]):
        try:
            value = WORDS.get(cell.lower()) or table.number(cell, AMONG)
        except ValueError as error:
            bad.append((number, str(error)))
            continue
        if value is None:
            continue
        if not any(names):
            bad.append((number, f"a value without a molecule; its columns are {listed}."))
            continue
        named = dict(zip(known, names, strict=True))
        rows.append(MeasuredRow(table.place(number), named.get(identifier, ""), named.get(smiles, ""), value))
    problems += [f"{table.place(number)}: {text}" for number, text in sorted([*table.problems, *bad])]
