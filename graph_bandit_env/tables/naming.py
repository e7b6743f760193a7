"""Find the columns of structures and names in any table."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from graph_bandit_env.tables.table import Table

SMILES, ID = "smiles", "id"
SHOWN = 5  # names in a remark
STRUCTURES = (("smiles",), ("canonicalsmiles", "isomericsmiles", "cxsmiles"), ("structure",))
"""Usual names, ignoring case, blanks, dots and underscores. Names of a group have equal priority."""
WORDS = "id compoundid moleculeid moleculechemblid chemblid identifier name compoundname moleculename compound molecule"
CATALOGUE = "catno catalogno catalogueno catalognumber cataloguenumber"
NAMES = tuple((word,) for word in f"{WORDS} {CATALOGUE}".split())


class Naming(NamedTuple):
    """The columns that identify the rows."""

    smiles: str
    """Column of the structures. Empty if there is none."""
    identifier: str
    """Column of the names. Empty if there is none."""
    remarks: list[str]
    """Messages about detected columns."""


def find_naming(
    table: Table,
    smiles: str = SMILES,
    identifier: str | None = None,
    used: Collection[str] = (),
    else_usual: bool = False,
) -> Naming:
    """Find the columns of structures and names.

    The order of priority is a column with the requested name, one that differs only in case, blanks, dots and
    underscores, and one with a usual name, unless another name was requested.

    Args:
        table: an open table.
        smiles: requested column of structures.
        identifier: requested column of names. If None, the usual ones.
        used: columns with another use, which are not names.
        else_usual: if True, columns with usual names are also accepted if others were requested.

    Raises:
        ValueError: if two columns have equal priority.
    """
    if not table.has_header:  # the columns have no names, so any name is accepted
        return Naming(SMILES, ID, [])
    columns, source = [*filter(None, table.columns)], str(table.path)
    structures = _find(columns, smiles, STRUCTURES, else_usual, "--smiles", source)
    others = [name for name in columns if name != structures and (name == identifier or name not in used)]
    names = _find(others, identifier or ID, NAMES, else_usual, "--id", source)
    taken = [f"structures from `{structures}`"] * (structures not in ("", smiles, SMILES))
    taken += [f"names from `{names}`"] * (names not in ("", identifier, ID))
    return Naming(structures, names, [f"{' and '.join(taken)} of {table.path.name}"] * bool(taken))


def describe_shared(names: Collection[str]) -> list[str]:
    """Return a remark on names shared by several molecules, or an empty list."""
    listed = ", ".join(f"`{name}`" for name in sorted(names)[:SHOWN])
    more = f" and {len(names) - SHOWN:,} more" * (len(names) > SHOWN)
    return [f"names of several molecules, which have their SMILES instead: {listed}{more}"] * bool(names)


def is_header(word: str) -> bool:
    """Return True if a word is a usual name of a column of structures."""
    return any(_fold(word) in group for group in STRUCTURES)


def _find(
    columns: Sequence[str], asked: str, usual: Sequence[Sequence[str]], else_usual: bool, flag: str, source: str
) -> str:
    if asked in columns:
        return asked
    for group in ([_fold(asked)], *(usual if else_usual or asked == usual[0][0] else ())):
        alike = [name for name in columns if _fold(name) in group]
        if len(alike) > 1:
            raise ValueError(
                f"Expected one column for `{flag}` in {source}. It has {' and '.join(alike)}. Name one by `{flag}`."
            )
        if alike:
            return alike[0]
    return ""


def _fold(name: str) -> str:
    return re.sub(r"[\s_.]", "", name.casefold())
