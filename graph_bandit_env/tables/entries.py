"""Equal cells of a table, and columns in which rows of one entry differ."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?\s*")
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
NAMES = """
id ids identifier name names no nr number index row line entry compound molecule mol title label code cas inchi inchikey
iupac batch lot sample barcode plate well reference ref refs doi source url link file price prices cost stock amount
quantity availability available supplier vendor catalog catalogue delivery lead date day week month year created updated
timestamp comment comments note notes remark remarks
"""
NOT_PART = frozenset(NAMES.split())
"""Words in the names of columns that say nothing of what is measured."""


def same_cell(text: str) -> str:
    """Return a cell without blanks around it, a number as short as it can be written."""
    return f"{float(text):.10g}" if NUMBER.fullmatch(text) else " ".join(text.split())


def is_part(column: str) -> bool:
    """Return whether a column may be part of what an entry is, by its name."""
    return not NOT_PART.intersection(map(str.casefold, WORDS.findall(column)))


def differing_columns(owners: Sequence[int], cells: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the columns in which rows of one entry say different things; an empty cell says nothing.

    Args:
        owners: the entry of each of R rows.
        cells: R cells by column.
    """
    differing = []
    for name, texts in cells.items():
        said = {(owner, text) for owner, text in zip(owners, map(same_cell, texts), strict=True) if text}
        differing += [name] * (len(said) > len({owner for owner, _ in said}))
    return differing


def refuse_differing(columns: Iterable[str], known: Collection[str], source: str, best_of: str = "") -> None:
    """Refuse rows of one structure that differ in other columns, since nobody said what these are.

    Args:
        columns: the columns in which they do.
        known: columns that have a use; those that are no part of an entry by their names are known, too.
        source: the table.
        best_of: the column of the goal, if rows of one structure differ in it, too.

    Raises:
        ValueError: if there is one.
    """
    columns = [name for name in columns if name not in known and is_part(name)]
    if not columns:
        return
    slots = " ".join(f"--slot {shlex.quote(name)}" for name in columns)
    ignored = f"--ignore-column {' '.join(map(shlex.quote, columns))}"
    poses = f", or take the best row of each by `--best-of {shlex.quote(best_of)}`" * bool(best_of)
    raise ValueError(
        f"Rows of one entry differ in {', '.join(f'`{name}`' for name in columns)} of {source}. If "
        f"these columns are part of the choice, pass `{slots}`. If these rows are replicates, pass "
        f"`{ignored}`{poses}. In "
        "Python, use `slots` of `read_actions` and `ignore_columns`."
    )
