"""Read limits on columns and properties as people write them: `mw<500`, `logp=1..4`, `stock=yes`. No numpy."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass

NUMBER = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
# A name may hold operators itself, as in `logD (pH=7.4)<3`: the last one counts, since none can stand in a number.
WRITTEN = re.compile(
    rf"\s*(?P<name>.*[^\s<>=!≤≥])\s*(?P<sign><=|>=|[<>=≤≥])\s*"
    rf"(?:(?P<value>{NUMBER})|(?P<low>{NUMBER})?\.\.(?P<high>{NUMBER})?)\s*",
    re.DOTALL,
)
FORMS = "`mw<500`, `qed>=0.5`, `hbd=2`, or `logp=1..4`"


@dataclass(frozen=True)
class Requirement:
    """A limit on a number."""

    text: str
    """The limit as written, without blanks around it."""
    name: str
    """Name of a column or a property."""
    low: float = -math.inf
    """Lower end."""
    high: float = math.inf
    """Upper end."""
    strict: bool = False
    """Whether the ends themselves do not meet it."""

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read a limit such as `mw<500`, `hbd=2` or `logp=1..4`; both ends of a range meet it, and one may be left out.

        Raises:
            ValueError: if it is not of this form, or no number can meet it.
        """
        match = WRITTEN.fullmatch(text)
        ends = [] if not match else [float(match[end]) for end in ("value", "low", "high") if match[end] is not None]
        if not match or not ends or (match["value"] is None and match["sign"] != "="):
            raise ValueError(
                f"Expected a limit such as {FORMS}. Got {text!r}. Numbers have a decimal point and no unit; in a "
                "shell, put the limit in quotation marks."
            )
        sign = match["sign"].replace("≤", "<=").replace("≥", ">=")
        if match["value"] is not None:
            value = float(match["value"])
            low, high = (-math.inf if "<" in sign else value), (math.inf if ">" in sign else value)
        else:
            low, high = float(match["low"] or "-inf"), float(match["high"] or "inf")
        if not all(map(math.isfinite, ends)) or low > high:
            raise ValueError(f"Expected a limit from a smaller to a larger finite number. Got {text!r}.")
        return cls(text.strip(), match["name"], low, high, sign in ("<", ">"))

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Return both ends, None for one that is not there."""
        return (self.low if self.low > -math.inf else None), (self.high if self.high < math.inf else None)

    def accepts(self, value: float) -> bool:
        """Return whether a number meets the limit; one that is not known (NaN) does not."""
        return self.low < value < self.high if self.strict else self.low <= value <= self.high


@dataclass(frozen=True)
class Choice:
    """A limit on a column of text."""

    text: str
    """The limit as written."""
    name: str
    """Name of the column."""
    values: frozenset[str]
    """Cells that meet it."""

    @classmethod
    def parse(cls, text: str) -> Choice:
        """Read a limit such as `stock=yes` or `vendor=A,B`; a value with a comma is put in double quotation marks.

        Raises:
            ValueError: if it is not of this form, or a value is empty.
        """
        name, sign, rest = (part.strip() for part in text.partition("="))
        try:
            values = next(csv.reader([rest], skipinitialspace=True, strict=True), [])
        except csv.Error:
            values = []
        values = [value.strip() for value in values]
        if not name or not sign or not values or not all(values):
            raise ValueError(f"Expected a column and its values, as `stock=yes` or `vendor=A,B`. Got {text!r}.")
        return cls(text.strip(), name, frozenset(values))
