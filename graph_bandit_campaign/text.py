"""Write numbers, lists and names for people and for spreadsheets to read, and find columns by their names. No numpy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph_bandit_env.tables import Table

MOST = 10  # names in a list


def short(value: float | None, nothing: str = "") -> str:
    """Write a number with four significant digits."""
    return nothing if value is None else f"{value:.4g}"


def percent(share: float | None) -> str:
    """Write a share as a whole percentage; 0 % and 100 % are exact."""
    if share is None:
        return ""
    return "< 1 %" if 0 < share <= 0.005 else "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def listed(names: Sequence[str], most: int = MOST) -> str:
    """Write the first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


FORMULA = re.compile(r"'*[=+\-@＝＋－＠]")  # spreadsheets take the wide ones for formulas, too


def shield(name: str) -> str:
    """Put an apostrophe in front of a name that begins like a formula, as OWASP advises ("CSV injection")."""
    return f"'{name}" if FORMULA.match(name) else name


def unshield(name: str) -> str:
    """Return the name from which `shield` made this one."""
    return name[1:] if name.startswith("'") and FORMULA.match(name) else name


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


def sheet_remarks(table: Table, sheet: str | None, option: str) -> list[str]:
    """Say which of several sheets of a workbook was read, if the user did not name one, and that hidden rows were."""
    remarks = [f"{table.hidden:,} hidden rows of {table.path.name} read, too"] * bool(table.hidden)
    if sheet is None and len(table.sheets) > 1:
        which = f"the first of {len(table.sheets)} ({option} names another)"
        remarks.append(f"sheet `{table.sheet}` of {table.path.name} read, {which}")
    return remarks


def split_name(text: str) -> tuple[Path, str | None]:
    """Return the path and the column of `FILE:COLUMN`; no column for `FILE`, which may have a colon of its own.

    Args:
        text: as on the command line.
    """
    head, _, column = text.rpartition(":")
    is_name = len(head) > 1 and column and not Path(text).is_file()  # one letter is a drive of Windows
    return (Path(head), column) if is_name else (Path(text), None)


def are_one(path: Path, other: Path) -> bool:
    """Return whether two paths lead to one file, which may have several names."""
    return path.resolve() == other.resolve() or (path.exists() and other.exists() and path.samefile(other))
