"""Format numbers, lists and names for people and spreadsheets, and find columns by name. No numpy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph_bandit_env.tables import Table

MOST = 10  # names in a list


def short(value: float | None, nothing: str = "") -> str:
    """Format a number with four significant digits."""
    return nothing if value is None else f"{value:.4g}"


def percent(share: float | None) -> str:
    """Format a share as a whole percentage. Only exact shares are shown as 0 % and 100 %."""
    if share is None:
        return ""
    return "< 1 %" if 0 < share <= 0.005 else "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def listed(names: Sequence[str], most: int = MOST) -> str:
    """List the first names, and the number of further ones."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


FORMULA = re.compile(r"'*[=+\-@＝＋－＠]")  # spreadsheets also treat the wide characters as formulas


def shield(name: str) -> str:
    """Put an apostrophe before a name that looks like a formula, as OWASP advises ("CSV injection")."""
    return f"'{name}" if FORMULA.match(name) else name


def unshield(name: str) -> str:
    """Reverse `shield`."""
    return name[1:] if name.startswith("'") and FORMULA.match(name) else name


def find_column(name: str, columns: Iterable[str], source: str) -> str:
    """Find a column by name, ignoring case, and return its exact name, or an empty text.

    Raises:
        ValueError: if several names differ only in case.
    """
    names = tuple(columns)
    if name in names:
        return name
    alike = [column for column in names if column.casefold() == name.casefold()]
    if len(alike) > 1:
        raise ValueError(f"Expected one column `{name}` in {source}. It has {', '.join(alike)}. Rename one of them.")
    return "".join(alike)


def sheet_remarks(table: Table, sheet: str | None, option: str) -> list[str]:
    """Report hidden rows, and the sheet that was read if the workbook has several and the user chose none."""
    remarks = [f"{table.hidden:,} hidden rows of {table.path.name} included"] * bool(table.hidden)
    if sheet is None and len(table.sheets) > 1:
        others = f"the first of {len(table.sheets)} ({option} chooses another)"
        remarks.append(f"sheet `{table.sheet}` of {table.path.name}, {others}")
    return remarks


def split_name(text: str) -> tuple[Path, str | None]:
    """Split `FILE:COLUMN` into path and column. The column is None for `FILE`, which may contain a colon.

    Args:
        text: as on the command line.
    """
    head, _, column = text.rpartition(":")
    is_name = len(head) > 1 and column and not Path(text).is_file()  # one letter is a drive on Windows
    return (Path(head), column) if is_name else (Path(text), None)


def are_one(path: Path, other: Path) -> bool:
    """Return True if two paths lead to the same file, even under different names."""
    return path.resolve() == other.resolve() or (path.exists() and other.exists() and path.samefile(other))
