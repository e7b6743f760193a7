"""Spell the columns of goals as the campaign or the tables do: capitals do not count."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def spell(name: str, known: Sequence[str], headers: Collection[Iterable[str]]) -> str:
    """Return a measured quantity as the campaign spells it or, if it does not have it, as the first table that does.

    Where a table has two columns that differ in capitals alone, capitals do count.

    Args:
        name: the quantity as the user wrote it.
        known: the quantities that the campaign has.
        headers: columns of each table of results.
    """
    matches = [_alike(name, columns) for columns in headers]
    before = _alike(name, known)
    if name in before or any(len(columns) > 1 for columns in matches):
        return name
    return before[0] if len(before) == 1 else next((columns[0] for columns in matches if columns), name)


def _alike(name: str, names: Iterable[str]) -> list[str]:
    return [other for other in names if other.casefold() == name.casefold()]
