"""Write names that spreadsheets would take for formulas, and read them again."""

from __future__ import annotations

import re

FORMULA = re.compile(r"'*[=+\-@＝＋－＠]")  # spreadsheets take the wide ones for formulas, too


def shield(name: str) -> str:
    """Put an apostrophe in front of a name that begins like a formula, as OWASP advises ("CSV injection")."""
    return f"'{name}" if FORMULA.match(name) else name


def unshield(name: str) -> str:
    """Return the name from which `shield` made this one."""
    return name[1:] if name.startswith("'") and FORMULA.match(name) else name
