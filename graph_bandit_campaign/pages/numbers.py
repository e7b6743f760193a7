"""Write numbers and lists of names for people to read."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 10  # names in a list


def short(value: float | None, nothing: str = "") -> str:
    """Write a number with four significant digits."""
    return nothing if value is None else f"{value:.4g}"


def percent(share: float | None, space: str = "") -> str:
    """Write a share as a whole percentage."""
    return "" if share is None else f"{100 * share:.0f}{space}%"


def listed(names: Sequence[str], most: int = MOST) -> str:
    """Write the first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def duration(seconds: float) -> str:
    """Write a time for people, in seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
