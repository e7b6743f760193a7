"""Rows of a table of molecules: read and checked before any graph is made."""

from __future__ import annotations

from typing import NamedTuple

from graph_bandit_env.tables import Table


class Row(NamedTuple):
    """One molecule of a table."""

    number: int
    """As people see it: a line of text, a row of a spreadsheet, a record of an SDF file."""
    smiles: str
    identifier: str | None
    target: float | None
    """None where nothing was measured."""


class BadRowsError(ValueError):
    """Rows that are no molecules, or whose target is no number."""

    def __init__(self, source: str, unit: str, problems: list[tuple[int, str]], shown: int = 10) -> None:
        listed = "\n".join(f"  {unit} {number}: {text}" for number, text in problems[:shown])
        more = f"\n  and {len(problems) - shown} more" if len(problems) > shown else ""
        super().__init__(
            f"Expected {source} to hold molecules. {len(problems)} rows are bad:\n{listed}{more}\n"
            'Mend them, or leave them out with on_error="skip" (on the command line --skip-bad-rows).'
        )
        self.problems = tuple(problems)


def read_rows(
    table: Table, smiles: str, identifier: str | None, target: str | None, most_rows: int | None
) -> tuple[list[Row], list[tuple[int, str]]]:
    """Read the molecules of a table.

    Args:
        table: that was opened.
        smiles: column of the SMILES.
        identifier: column of the names, if any.
        target: column of the measured values, if any.
        most_rows: how many there may be; None: any number.

    Returns:
        Rows, and the problems of those that could not be read: number and text.

    Raises:
        ValueError: if a column is not there, or there are more rows.
    """
    if not table.has_header:  # its columns have no names, so that any will do
        smiles, identifier = "smiles", "id" if identifier is not None else None
    columns = [smiles, *(name for name in (identifier, target) if name is not None)]
    among = f" in `{target}`"
    rows, problems = [], table.problems
    for number, cells in table.rows(columns, most_rows):
        name = cells[1] or None if identifier is not None else None
        try:
            value = None if target is None else table.number(cells[-1], among)
        except ValueError as error:
            problems.append((number, str(error)))
            continue
        if cells[0]:
            rows.append(Row(number, cells[0], name, value))
        else:
            problems.append((number, f"expected a SMILES in `{smiles}`. Got nothing."))
    return rows, problems
