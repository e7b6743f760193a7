"""Find the columns of structures and of names, in every table alike."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from graph_bandit_env.tables.table import Table

SMILES, ID = "smiles", "id"
SHOWN = 5  # names in a remark
STRUCTURES = (("smiles",), ("canonicalsmiles", "isomericsmiles", "cxsmiles"), ("structure",))
"""Usual names, in which neither capitals nor blanks, dots and underscores count; those of one group fit equally."""
WORDS = "id compoundid moleculeid moleculechemblid chemblid identifier name compoundname moleculename compound molecule"
CATALOGUE = "catno catalogno catalogueno catalognumber cataloguenumber"
NAMES = tuple((word,) for word in f"{WORDS} {CATALOGUE}".split())


class Naming(NamedTuple):
    """The columns that say what each row is about."""

    smiles: str
    """Column of the structures; empty if there is none."""
    identifier: str
    """Column of the names; empty if there is none."""
    remarks: list[str]
    """Names the columns that the user did not, for people."""


def find_naming(
    table: Table,
    smiles: str = SMILES,
    identifier: str | None = None,
    used: Collection[str] = (),
    else_usual: bool = False,
) -> Naming:
    """Find the columns of structures and of names.

    A column of the asked name comes first, then one whose name differs in capitals, blanks and underscores alone, then
    one with a usual name, unless another name was asked for.

    Args:
        table: an open table.
        smiles: the column of structures that was asked for.
        identifier: the column of names that was asked for; None: the usual ones.
        used: columns that have another use, and hold no names.
        else_usual: whether columns with usual names count also where others were asked for.

    Raises:
        ValueError: if two columns fit equally.
    """
    if not table.has_header:  # its columns have no names, so any name will do
        return Naming(SMILES, ID, [])
    columns, source = [*filter(None, table.columns)], str(table.path)
    structures = _find(columns, smiles, STRUCTURES, else_usual, "--smiles", source)
    others = [name for name in columns if name != structures and (name == identifier or name not in used)]
    names = _find(others, identifier or ID, NAMES, else_usual, "--id", source)
    taken = [f"structures from `{structures}`"] * (structures not in ("", smiles, SMILES))
    taken += [f"names from `{names}`"] * (names not in ("", identifier, ID))
    return Naming(structures, names, [f"{' and '.join(taken)} of {table.path.name}"] * bool(taken))


def describe_shared(names: Collection[str]) -> list[str]:
    """Say which names several molecules have; nothing if there is none."""
    listed = ", ".join(f"`{name}`" for name in sorted(names)[:SHOWN])
    more = f" and {len(names) - SHOWN:,} more" * (len(names) > SHOWN)
    return [f"names of several molecules, which have their SMILES instead: {listed}{more}"] * bool(names)


def is_header(word: str) -> bool:
    """Return whether a word is the usual name of a column of structures."""
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
