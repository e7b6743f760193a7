"""An open table: its columns, its rows as text, and the parser for numbers in cells."""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graph_bandit_env.checks import check_names

WHOLE = 1e15  # below this, a float represents every whole number exactly
LISTED = 50  # maximum number of columns in a message
LARGEST = 1e100  # of a side value: sums of squares of such numbers stay far below the largest float64


class UnknownCell(str):
    """A cell without a readable value. Its text is the reason."""


@dataclass
class Table:
    """An open table from `open_table`. Its rows can be read once."""

    path: Path
    """Path of the file."""
    columns: tuple[str, ...]
    """Unique names of the columns, empty for gaps in the header."""
    records: Iterable[tuple[int, Sequence[str]]]
    """Number and cells of each unread row."""
    unit: str = "line"
    """Word for a row: "line" of a text, "row" of a spreadsheet, "record" of an SDF file."""
    sheet: str = ""
    """The sheet of a workbook."""
    sheets: tuple[str, ...] = ()
    """All visible sheets of a workbook."""
    decimal: str = "."
    """Decimal mark of numbers: "," for text with decimal commas, as in much of Europe, ".," for a workbook."""
    has_header: bool = True
    """False for a .smi file, whose columns are `smiles` and `id` for any requested names."""
    hidden: int = 0
    """Number of hidden rows of a workbook, which are also read."""
    problems: list[tuple[int, str]] = field(default_factory=list)
    """Number and problem of each unreadable row."""

    def __post_init__(self) -> None:
        names = [name.strip() for name in self.columns]
        while names and not names[-1]:
            names.pop()
        check_names(f"columns of {self.path}", [*filter(None, names)])
        if not names:
            raise ValueError(f"Expected a table with a header in {self.path}. It is empty{self._of_sheet()}.")
        self.columns = tuple(names)

    def rows(self, columns: Sequence[str], texts: Sequence[str] = ()) -> Iterator[tuple[int, list[str]]]:
        """Read the rows once. Empty rows are skipped, and the missing cells of a short row are empty.

        Args:
            columns: the columns to return, in this order.
            texts: other columns, which may never be used. An unreadable cell there, such as a formula, is an
                `UnknownCell` instead of a bad row.

        Yields:
            Number and cells of each row, without surrounding blanks. Unreadable rows are added to `problems`.

        Raises:
            ValueError: if a column is missing.
        """
        place_of = {name: place for place, name in enumerate(self.columns)}
        if missing := [column for column in (*columns, *texts) if column not in place_of]:
            names = [*filter(None, self.columns)]
            listed = ", ".join(names[:LISTED]) + f" and {len(names) - LISTED:,} more" * (len(names) > LISTED)
            raise ValueError(f"Expected a column `{missing[0]}` in {self.path}{self._of_sheet()}. It has {listed}.")
        positions, further = ([place_of[column] for column in some] for some in (columns, texts))
        every, width = [*positions, *further], len(self.columns)
        needed = max(every, default=-1) + 1
        for number, cells in self.records:
            if len(cells) < needed:
                cells = [*cells, *[""] * (needed - len(cells))]
            chosen = [cells[position].strip() for position in positions]
            chosen += [cell if type(cell := cells[position]) is UnknownCell else cell.strip() for position in further]
            if not any(chosen) and not any(cell.strip() for cell in cells):
                continue
            if len(cells) > width and any(cell.strip() for cell in cells[width:]):
                self.problems.append((number, f"expected {width} cells, as the header has. Got {len(cells)}."))
            elif unknown := [cells[position] for position in positions if type(cells[position]) is UnknownCell]:
                self.problems.append((number, str(unknown[0])))
            else:
                yield number, chosen

    def number(self, text: str, among: str = "") -> float | None:
        """Return the number in a cell, or None for an empty cell, "n/a" and the like.

        A number that could be above a thousand with another decimal mark is rejected, unless it has the mark of the
        table.

        Args:
            text: text of the cell, without blanks around it.
            among: text after "expected a number" in messages.

        Raises:
            ValueError: if the text is not a finite number.
        """
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text).replace(MINUS, "-")
        is_unclear = (
            self.decimal != "." and ("," if self.decimal == EITHER else ".") in plain and THOUSANDS.fullmatch(plain)
        )
        if self.decimal != "." and not is_unclear and DECIMAL_COMMA.fullmatch(plain):
            plain = plain.replace(",", ".")
        try:
            value = float(plain)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and "_" not in text and plain.isascii() and not is_unclear:  # 1_000 and ٣ are names
            return value
        if text.lower() in NOTHING:
            return None
        if is_unclear:
            whole, part = re.split("[.,]", plain)
            raise ValueError(
                f"expected a number{among}. Got {text!r}, which may be {whole}{part} or a fraction. "
                f"Write {whole}{part} or {whole}{',' if self.decimal == ',' else '.'}{part}0."
            )
        remedy = " That is a date: format the column as numbers, and write the value again." * bool(DATE.match(text))
        raise ValueError(f"expected a finite number{among}. Got {text!r}.{remedy}")

    def is_number(self, text: str) -> bool:
        """Return True if a cell contains a number.

        Args:
            text: text of the cell.
        """
        try:
            return self.number(text.strip()) is not None
        except ValueError:
            return False

    def plain(self, text: str) -> str:
        """Return a cell, with a number in its shortest form and with a decimal point.

        Args:
            text: text of the cell, without blanks around it.
        """
        return f"{self.number(text):.10g}" if self.is_number(text) else text

    def side_value(self, text: str, column: str) -> float:
        """Return the number in a cell of a column of side values, or NaN for an empty cell, "n/a" and the like.

        Args:
            text: text of the cell.
            column: name of the column, for messages.

        Raises:
            ValueError: if the text is not a number from -1e100 to 1e100.
        """
        value = self.number(text, f" in `{column}`")
        if value is not None and abs(value) > LARGEST:
            raise ValueError(f"expected a number from -{LARGEST:g} to {LARGEST:g} in `{column}`. Got {text!r}.")
        return math.nan if value is None else value

    def where(self, number: int) -> str:
        """Return the file, sheet and number of a row, for messages."""
        sheet = f", sheet `{self.sheet}`" if self.sheet else ""
        return f"{self.path.name}{sheet}, {self.unit} {number}"

    def _of_sheet(self) -> str:
        return f" (sheet `{self.sheet}` of {', '.join(self.sheets)})" if self.sheet else ""


def to_text(value: object) -> str:
    """Convert a cell to text as spreadsheets export it: 7 for 7.0, empty for NaN, TRUE for True."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < WHOLE:
        return str(int(value))
    if isinstance(value, bytes):  # some programs write text as bytes to Parquet files
        return value.decode()
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return str(value)


NOTHING = frozenset(("", "-", "nan", "na", "n/a", "#n/a", "nd", "n.d."))
EITHER = ".,"  # decimal marks of a workbook: points in numbers, and possibly commas in texts
MINUS = "\N{MINUS SIGN}"
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
FRACTION = re.compile(r"[+-]?\d*[.,]\d+(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")  # 1.234 and 1,234 may be above one or above a thousand
DATE = re.compile(
    r"\d{4}-\d\d-\d\d|\d{1,2}[./-] ?[^\W\d_]{3}\b|[^\W\d_]{3}[-. ]+\d\d(?:\d\d)?$|\d{1,2}[./]\d{1,2}[./]\d{2}"
)


def decimal_mark(delimiter: str, cells: Iterable[str]) -> str:
    """Return the decimal mark of a text table, inferred from its numbers or otherwise from its delimiter.

    Args:
        delimiter: delimiter of the cells.
        cells: cells of the first lines.
    """
    clear = [cell for cell in cells if FRACTION.fullmatch(cell) and not THOUSANDS.fullmatch(cell)]
    has_commas, has_points = (any(mark in cell for cell in clear) for mark in ",.")
    if delimiter == ";":
        return "." if has_points and not has_commas else ","
    return "," if delimiter == "\t" and has_commas and not has_points else "."
