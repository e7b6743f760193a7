"""Read and check the rows of a table of molecules, before any graph is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.tables import Table


class Row(NamedTuple):
    """One molecule of a table."""

    number: int
    """As people count: the line of a text, the row of a spreadsheet, the record of an SDF file."""
    smiles: str
    identifier: str | None
    target: float | None
    """None where nothing was measured."""
    columns: tuple[float, ...] = ()
    """Values of the user's own columns, NaN where one is not known."""
    texts: tuple[str, ...] = ()
    """Cells of columns that are kept as text."""


class KeptRows(NamedTuple):
    """The rows of the molecules of a table, with cells that are kept as text. Rows of a molecule stand together."""

    owners: NDArray[np.int64]
    """`(R,)`, in increasing order. Index of the molecule of each row."""
    numbers: NDArray[np.int64]
    """`(R,)`. Each row as people count; those of a molecule are in increasing order."""
    texts: dict[str, list[str]]
    """R cells by column."""

    @staticmethod
    def of(rows: Sequence[Row], owners: Sequence[int], columns: Sequence[str]) -> KeptRows:
        """Return some rows, given the molecule of each and the names of the columns that are kept."""
        order = np.argsort(np.array(owners, np.int64), kind="stable")
        sorted_rows = [rows[k] for k in order.tolist()]
        texts = {name: [row.texts[column] for row in sorted_rows] for column, name in enumerate(columns)}
        numbers = np.array([row.number for row in sorted_rows], np.int64)
        return KeptRows(np.array(owners, np.int64)[order], numbers, texts)


class BadRowsError(ValueError):
    """Rows that are not molecules, or have a value that is not a number."""

    def __init__(self, source: str, unit: str, problems: list[tuple[int, str]], shown: int = 10) -> None:
        listed = "\n".join(f"  {unit} {number}: {text}" for number, text in problems[:shown])
        more = f"\n  and {len(problems) - shown} more" if len(problems) > shown else ""
        super().__init__(
            f"Expected {source} to hold molecules. {len(problems)} rows are bad:\n{listed}{more}\n"
            'Correct them, or leave them out with on_error="skip" (on the command line --skip-bad-rows).'
        )
        self.problems = tuple(problems)


def read_rows(
    table: Table,
    smiles: str,
    identifier: str | None,
    target: str | None,
    most_rows: int | None,
    columns: Sequence[str] = (),
    texts: Sequence[str] = (),
) -> tuple[list[Row], list[tuple[int, str]]]:
    """Read the molecules of a table.

    Args:
        table: an open table.
        smiles: column of the SMILES.
        identifier: column of the names, if any.
        target: column of the measured values, if any.
        most_rows: how many rows there may be; None: any number.
        columns: further columns of numbers.
        texts: columns of any cells, which are kept as text.

    Returns:
        The rows, and the number and problem of each row that could not be read.

    Raises:
        ValueError: if a column is missing, or there are more than `most_rows` rows.
    """
    if not table.has_header:  # its columns have no names, so any name will do
        smiles, identifier = "smiles", "id" if identifier is not None else None
    needed = [smiles, *(name for name in (identifier, target) if name is not None)]
    among = f" in `{target}`"
    rows, problems = [], table.problems
    end = len(needed) + len(columns)
    for number, cells in table.rows([*needed, *columns], most_rows, texts):
        name = cells[1] or None if identifier is not None else None
        try:
            value = None if target is None else table.number(cells[len(needed) - 1], among)
            values = tuple(map(table.side_value, cells[len(needed) : end], columns))
        except ValueError as error:
            problems.append((number, str(error)))
            continue
        if cells[0]:
            rows.append(Row(number, cells[0], name, value, values, tuple(cells[end:])))
        else:
            problems.append((number, f"expected a SMILES in `{smiles}`. Got nothing."))
    return rows, problems
