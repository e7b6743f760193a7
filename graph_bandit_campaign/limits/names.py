"""Find columns by their names. No numpy."""

from __future__ import annotations

from collections.abc import Iterable


def find_column(name: str, columns: Iterable[str], source: str) -> str:
    """Return the column of this name, or whose name differs in capitals alone; an empty text if there is none.

    Raises:
        ValueError: if there are several that differ in capitals alone.
    """
    names = tuple(columns)
    if name in names:
        return name
    alike = [column for column in names if column.casefold() == name.casefold()]
    if len(alike) > 1:
        raise ValueError(f"Expected one column `{name}` in {source}. It has {', '.join(alike)}. Rename one of them.")
    return "".join(alike)
