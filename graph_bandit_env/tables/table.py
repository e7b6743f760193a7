"""An open table: its columns, its rows as text, and what a number looks like in it."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

NOTHING = frozenset(("", "-", "nan", "na", "n/a", "#n/a", "nd", "n.d."))
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
WHOLE = 1e15  # below it every whole number is a float


class UnknownCell(str):
    """A cell whose content cannot be known; its text says why."""


class TooManyRowsError(ValueError):
    """A table is longer than what was asked for."""

    def __init__(self, path: Path, count: int, most_rows: int) -> None:
        super().__init__(f"Expected at most {most_rows:,} rows in {path}. Got {count:,}.")
        self.count = count


@dataclass
class Table:
    """An open table, whose rows are read once: `open_table` makes one."""

    path: Path
    columns: tuple[str, ...]
    """Names of the columns, all different; empty where the header has a gap."""
    records: Iterable[tuple[int, Sequence[str]]]
    """Numbers and cells of the rows that have not been read yet."""
    unit: str = "line"
    """What rows are counted in, as people do: "line" of a text, "row" of a spreadsheet, "record" of an SDF file."""
    sheet: str = ""
    """Sheet of a workbook."""
    sheets: tuple[str, ...] = ()
    """All sheets of a workbook that can be seen."""
    decimal: str = "."
    """Decimal mark of numbers: "," where semicolons separate the cells, as in much of Europe."""
    has_header: bool = True
    """False: the columns are `smiles` and `id`, whatever people call them (a .smi file)."""
    problems: list[tuple[int, str]] = field(default_factory=list)
    """Rows that could not be read: number, and what is wrong."""

    def __post_init__(self) -> None:
        names = [name.strip() for name in self.columns]
        while names and not names[-1]:
            names.pop()
        twice = sorted({name for name in names if name and names.count(name) > 1})
        if twice:
            listed = ", ".join(f"`{name}`" for name in twice)
            raise ValueError(
                f"Expected columns of different names in {self.path}. Got {listed} more than once. Rename."
            )
        if not names:
            raise ValueError(f"Expected a table with a header in {self.path}. It is empty{self._of_sheet()}.")
        self.columns = tuple(names)

    def rows(self, columns: Sequence[str], most_rows: int | None = None) -> Iterator[tuple[int, list[str]]]:
        """Read the rows, once; those without any content are left out, and cells that a short row lacks are empty.

        Args:
            columns: whose cells are wanted, in this order.
            most_rows: how many there may be; None: any number.

        Yields:
            Number and cells of each row, without blanks around them. Rows that cannot be read go to `problems`.

        Raises:
            TooManyRowsError: a ValueError, if there are more; it comes when they have been counted.
            ValueError: if a column is not there.
        """
        for column in columns:
            self._check_column(column)
        places = [self.columns.index(column) for column in columns]
        width, needed, left = (
            len(self.columns),
            max(places, default=-1) + 1,
            math.inf if most_rows is None else most_rows,
        )
        for number, cells in self.records:
            if len(cells) < needed:
                cells = [*cells, *[""] * (needed - len(cells))]
            chosen = [cells[place].strip() for place in places]
            if not any(chosen) and not any(cell.strip() for cell in cells):
                continue
            left -= 1
            if left < 0:
                continue
            if len(cells) > width and any(cell.strip() for cell in cells[width:]):
                self.problems.append((number, f"expected {width} cells, as the header has. Got {len(cells)}."))
            elif UnknownCell in map(type, cells) and (unknown := self._unknown(cells, places)):
                self.problems.append((number, unknown))
            else:
                yield number, chosen
        if most_rows is not None and left < 0:
            raise TooManyRowsError(self.path, most_rows - int(left), most_rows)

    def number(self, text: str, among: str = "") -> float | None:
        """Return the number in a cell; None where people write that there is none.

        Args:
            text: of the cell.
            among: follows "expected a number" in messages.

        Raises:
            ValueError: if it is no finite number.
        """
        try:
            value = float(text)
            if math.isfinite(value) and "_" not in text:  # Python reads 1_000 as a number, people as a name
                return value
        except ValueError:
            value = math.nan
        if text.lower() in NOTHING:
            return None
        if self.decimal == "," and DECIMAL_COMMA.fullmatch(text):
            return self.number(text.replace(",", "."), among)
        if math.isinf(value):
            raise ValueError(f"expected a finite number{among}. Got {text!r}.")
        remedy = " Write 3.5 for three and a half, 1234 for a thousand." if "," in text else ""
        if DATE.match(text):
            remedy = " That is a date: format the column as numbers, and write the value again."
        raise ValueError(f"expected a number{among}. Got {text!r}.{remedy}")

    def place(self, number: int) -> str:
        """Return where a row is, for people."""
        sheet = f", sheet `{self.sheet}`" if self.sheet else ""
        return f"{self.path.name}{sheet}, {self.unit} {number}"

    @staticmethod
    def _unknown(cells: Sequence[str], places: Sequence[int]) -> str:
        return next((str(cells[place]) for place in places if isinstance(cells[place], UnknownCell)), "")

    def _check_column(self, column: str) -> None:
        if column not in self.columns:
            alike = [f" Did you mean `{name}`?" for name in self.columns if name.casefold() == column.casefold()]
            listed = ", ".join(filter(None, self.columns))
            raise ValueError(
                f"Expected a column `{column}` in {self.path}{self._of_sheet()}. It has {listed}.{''.join(alike[:1])}"
            )

    def _of_sheet(self) -> str:
        return f" (sheet `{self.sheet}` of {', '.join(self.sheets)})" if self.sheet else ""


def to_text(value: object) -> str:
    """Write the value of a cell as a spreadsheet would in a text file: 7 for 7.0, nothing for NaN, TRUE for True."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < WHOLE:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return str(value)
