"""Show the tables and the progress of a campaign as its command has written them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from graph_bandit_campaign.constraints.limits.patterns import smarts_problem
from graph_bandit_campaign.file import read_digest
from graph_bandit_campaign.model.front import find_front
from graph_bandit_campaign.operations.desk import Desk
from graph_bandit_campaign.report.tables import KINDS, check_kind, write_table
from graph_bandit_env.tables import open_table

Which = Literal["suggestions", "predictions"]


@dataclass(frozen=True)
class Rows:
    """Some rows of a table."""

    columns: tuple[str, ...]
    """Names of the columns."""
    rows: tuple[tuple[str, ...], ...]
    """The cells of each row."""
    count: int
    """How many rows there are in all that were asked for."""


def find_rows(
    desk: Desk, which: Which, sort: str, falling: bool, contains: str, part: str, start: int, count: int
) -> Rows:
    """Return some rows of a table, in the order of a column.

    Args:
        desk: the campaign.
        which: the table.
        sort: name of a column; numbers come before texts. Empty: as they stand.
        falling: whether the largest come first.
        contains: text that one of the cells contains, whatever its capitals; empty: any.
        part: SMARTS of a substructure that each molecule has; empty: any.
        start: how many rows are passed over.
        count: most rows that are returned.

    Raises:
        ValueError: if the command writes no such table, the file is not as it was written, there is no such column, or
            the SMARTS cannot be read.
    """
    settings = desk.settings()
    path = settings.out if which == "suggestions" else settings.predictions
    if path is None:
        raise ValueError("Expected a command with --predictions. This one writes none: give it once with that option.")
    if (digest := read_digest(path)) not in desk.state().written:
        raise ValueError(f"Expected {path.name} as `suggest` wrote it. It is gone, or was changed since.")
    table = _read(path, digest)
    rows = list(table.rows)
    if contains:
        wanted = contains.casefold()
        rows = [row for row in rows if any(wanted in cell.casefold() for cell in row)]
    if part:
        rows = list(_having(part, rows, _place_of("smiles", table.columns)))
    if sort:
        place = _place_of(sort, table.columns)
        known = [row for row in rows if row[place]]
        known.sort(key=lambda row: _rank(row[place]), reverse=falling)
        rows = known + [row for row in rows if not row[place]]
    return Rows(table.columns, tuple(rows[start : start + count]), len(rows))


def export(
    desk: Desk, which: Which, kind: str, sort: str = "", falling: bool = False, contains: str = "", part: str = ""
) -> bytes:
    """Return a table, or some rows of it, as a file of another kind.

    Args:
        desk: the campaign.
        which: the table.
        kind: ending of the file, one of `.csv`, `.tsv`, `.xlsx`, `.sdf` and `.parquet`.
        sort: as of `find_rows`.
        falling: as of `find_rows`.
        contains: as of `find_rows`.
        part: as of `find_rows`.

    Raises:
        ValueError: as `find_rows`, or if the table cannot be written as such a file.
        MissingExtraError: if a package that writes it is not installed.
    """
    if kind not in KINDS:
        raise ValueError(f"Expected one of {', '.join(KINDS)}. Got {kind!r}.")
    table, path = find_rows(desk, which, sort, falling, contains, part, 0, sys.maxsize), Path(f"{which}{kind}")
    check_kind(path)
    return write_table(path, [table.columns, *table.rows])


def draw_progress(desk: Desk) -> str:
    """Return a figure of the results by round, or of two goals against each other, as SVG; empty without results.

    Args:
        desk: the campaign.
    """
    from graph_bandit_campaign.report.figures import front_figure, progress_figure
    from graph_bandit_lab.reports import to_svg

    state = desk.state()
    if len(state.goals) > 1:
        first, second = state.goals[:2]
        both = {result.id for result in state.measured if result.goal == first.name}
        if not any(result.id in both for result in state.measured if result.goal == second.name):
            return ""
        return to_svg(front_figure(state, first, second, find_front(state)))
    return to_svg(progress_figure(state, state.target)) if state.measured and not state.goals else ""


@lru_cache(maxsize=2)
def _read(path: Path, digest: str) -> Rows:
    with open_table(path) as table:
        columns = tuple(table.columns)
        rows = tuple(tuple(cells) for _, cells in table.rows(columns))
    return Rows(columns, rows, len(rows))


def _place_of(name: str, columns: Sequence[str]) -> int:
    if name not in columns:
        raise ValueError(f"Expected a column of the table: {', '.join(columns)}. Got {name!r}.")
    return columns.index(name)


def _rank(cell: str) -> tuple[int, float, str]:
    try:
        return 1, float(cell), ""
    except ValueError:
        return 0, 0.0, cell.casefold()


def _having(part: str, rows: Sequence[tuple[str, ...]], place: int) -> Iterator[tuple[str, ...]]:
    from rdkit import Chem

    if problem := smarts_problem(part):
        raise ValueError(f"Expected a SMARTS, such as c1ccncc1. {problem}")
    pattern = Chem.MolFromSmarts(part)
    for row in rows:
        molecule = Chem.MolFromSmiles(row[place])
        if molecule is not None and molecule.HasSubstructMatch(pattern):
            yield row
