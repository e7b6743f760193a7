"""Compare cells of a table, and find columns in which rows of one entry differ."""

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
"""Words in names of columns that do not describe the entry."""


def same_cell(text: str) -> str:
    """Return a cell without surrounding blanks, a number in its shortest form."""
    return f"{float(text):.10g}" if NUMBER.fullmatch(text) else " ".join(text.split())


def is_part(column: str) -> bool:
    """Return True if the name of a column suggests that it is part of an entry."""
    return not NOT_PART.intersection(map(str.casefold, WORDS.findall(column)))


def differing_columns(owners: Sequence[int], cells: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the columns in which rows of one entry differ. Empty cells are ignored.

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
    """Reject rows of one structure that differ in columns without a declared use.

    Args:
        columns: the columns in which they differ.
        known: columns with a declared use. Columns excluded by `is_part` are also allowed.
        source: name of the table.
        best_of: column of the goal, if rows of one structure also differ in it.

    Raises:
        ValueError: if there is such a column.
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
