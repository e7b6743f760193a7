"""Write numbers, lists and names for people and for spreadsheets to read."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
