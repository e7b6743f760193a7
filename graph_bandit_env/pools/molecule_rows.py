"""Rows of a table of molecules, and checks of the user's numeric columns, before graphs are created."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.checks import check_names
from graph_bandit_env.tables.table import LARGEST

Columns = NDArray[np.float64]


def check_columns(
    columns: ArrayLike | None, names: Sequence[str], molecules: Sequence[str]
) -> tuple[Columns, tuple[str, ...]]:
    """Return columns as a new read-only `(K, c)` float64 array, and their names.

    Args:
        columns: `(K, c)` numbers, NaN if missing. None for c = 0.
        names: c unique texts.
        molecules: names of K molecules, for messages.

    Raises:
        ValueError: if a shape is wrong, two names are equal or one is empty, or a value is not a number, is infinite
            or is too large.
        TypeError: if a name is not a text.
    """
    checked_names, count = check_names("names of columns", names), len(molecules)
    given = np.empty((count, 0)) if columns is None else np.asarray(columns)
    if given.shape != (count, len(checked_names)) or given.dtype.kind not in "biuf":
        raise ValueError(
            f"Expected `columns` to be numbers, NaN where a value is not known, of shape `({count}, "
            f"{len(checked_names)})`, a column for each of `column_names`. Got {given.dtype} of shape `{given.shape}`."
        )
    checked = np.array(given, np.float64)
    bad = np.argwhere(np.abs(checked) > LARGEST)
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"Expected numbers from -{LARGEST:g} to {LARGEST:g}, or NaN where a value is not known. Got "
            f"{checked[row, column]} in row {row + 1} (`{molecules[row]}`) of column `{checked_names[column]}`."
        )
    checked.flags.writeable = False
    return checked, checked_names


def check_known(columns: Columns, names: Sequence[str], source: str) -> None:
    """Reject columns without any number.

    Raises:
        ValueError: if there is such a column.
    """
    for column in np.flatnonzero(np.isnan(columns).all(axis=0)).tolist():
        raise ValueError(f"Expected at least one number in column `{names[column]}` of {source}. Got none.")


class Row(NamedTuple):
    """One molecule of a table."""

    number: int
    """Number in the file, from 1: line of a text, row of a spreadsheet, or record of an SDF file."""
    smiles: str
    identifier: str
    """Empty if there is no name."""
    target: float
    """NaN if missing."""
    columns: tuple[float, ...] = ()
    """Values of the user's columns, NaN if missing."""
    cells: Mapping[str, str] = MappingProxyType({})
    """Cells of text columns."""


class BadRowsError(ValueError):
    """Rows that are not molecules or have an invalid number."""

    def __init__(self, source: str, unit: str, problems: list[tuple[int, str]], shown: int = 10) -> None:
        numbers: dict[str, list[int]] = {}
        for number, text in problems:
            numbers.setdefault(text, []).append(number)
        lines = [
            f"  {unit} {some[0]}{f' and {len(some) - 1:,} more' * (len(some) > 1)}: {text}"
            for text, some in numbers.items()
        ]
        listed = "\n".join(lines[:shown])
        more = f"\n  and {len(lines) - shown} more" if len(lines) > shown else ""
        are_bad = "1 row is" if len(problems) == 1 else f"{len(problems):,} rows are"
        super().__init__(
            f"{are_bad} bad in {source}:\n{listed}{more}\n"
            'Correct them, or leave them out: --skip-bad-rows, in Python on_error="skip".'
        )
        self.problems = tuple(problems)
