"""Read the numbers that people write into cells, or say why a cell is none."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

NOTHING = frozenset(("", "-", "nan", "na", "n/a", "#n/a", "nd", "n.d."))
EITHER = ".,"  # the decimal mark of a workbook: its numbers have points, and in its texts people may write commas
MINUS = "\N{MINUS SIGN}"
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
FRACTION = re.compile(r"[+-]?\d*[.,]\d+(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")  # 1.234 and 1,234 may be one and a bit, or above a thousand
REMEDIES = (
    (
        re.compile(
            r"\d{4}-\d\d-\d\d|\d{1,2}[./-] ?[^\W\d_]{3}\b|[^\W\d_]{3}[-. ]+\d\d(?:\d\d)?$|\d{1,2}[./]\d{1,2}[./]\d{2}"
        ),
        "That is a date: format the column as numbers, and write the value again.",
    ),
    (re.compile(r".*%"), "Write shares without `%`, all of them as 12 or all as 0.12."),
    (re.compile(r".*(?:±|\+/-)"), "Write the value alone: its standard deviation needs a column of its own."),
    (re.compile(r"[+-]?[\d.,]+\s*(?:-|–|—|\.\.|to)\s*[\d.,]+$"), "Write one number for the range."),
    (re.compile(r"[–—]"), "Write a minus as `-`."),
    (re.compile(r".*,"), "Write 3.5 for three and a half, 1234 for a thousand."),
    (re.compile(r".*\d"), "Write the number alone."),
)  # the first one that fits is shown


def read_number(text: str, decimal: str = ".", among: str = "") -> float | None:
    """Return the number in a cell; None for an empty cell, "n/a" and the like.

    Args:
        text: text of the cell, without blanks around it.
        decimal: decimal mark, as in `Table`. A number that could be above a thousand if the mark were another one is
            refused, unless its mark is this one.
        among: follows "expected a number" in messages.

    Raises:
        ValueError: if the text is not a finite number.
    """
    plain = text.replace(MINUS, "-")
    is_unclear = decimal != "." and ("," if decimal == EITHER else ".") in plain and THOUSANDS.fullmatch(plain)
    if decimal != "." and not is_unclear and DECIMAL_COMMA.fullmatch(plain):
        plain = plain.replace(",", ".")
    try:
        value = float(plain)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and "_" not in text and not is_unclear:  # to Python 1_000 is a number, to people a name
        return value
    if text.lower() in NOTHING:
        return None
    if is_unclear:
        whole, part = re.split("[.,]", plain)
        raise ValueError(
            f"expected a number{among}. Got {text!r}, which is {whole}{part} to some and a fraction to others. Write "
            f"{whole}{part}, or {whole}{',' if decimal == ',' else '.'}{part}0."
        )
    if math.isinf(value):
        raise ValueError(f"expected a finite number{among}. Got {text!r}.")
    remedy = next((f" {words}" for pattern, words in REMEDIES if pattern.match(text)), "")
    raise ValueError(f"expected a number{among}. Got {text!r}.{remedy}")


def decimal_mark(delimiter: str, cells: Iterable[str]) -> str:
    """Return the decimal mark of a text table: what its numbers show or, if they do not, what its delimiter suggests.

    Args:
        delimiter: what separates the cells.
        cells: cells of the first lines.
    """
    clear = [cell for cell in cells if FRACTION.fullmatch(cell) and not THOUSANDS.fullmatch(cell)]
    has_commas, has_points = (any(mark in cell for cell in clear) for mark in ",.")
    if delimiter == ";":
        return "." if has_points and not has_commas else ","
    return "," if delimiter == "\t" and has_commas and not has_points else "."
