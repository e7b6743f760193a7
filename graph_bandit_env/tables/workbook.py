"""Read a sheet of a workbook by openpyxl, with the last computed values of formulas."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from graph_bandit_env.storage import unpacked_size
from graph_bandit_env.tables.damage import TooBigError, check_unpacked, refuse_damage
from graph_bandit_env.tables.table import EITHER, Table, UnknownCell, to_text

if TYPE_CHECKING:
    from openpyxl.cell.read_only import ReadOnlyCell
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14  # of a sheet of Excel
MOST_CELLS = 20_000_000  # a row counts as far as its last cell
TAG = re.compile(rb"<(?:\w+:)?(?:(f)[ />]|(row)\b[^>]*>|mergeCell\b[^>]*?\bref=\"([A-Z0-9:]+)\")")
CHUNK = 1 << 20  # bytes of a sheet that are searched at a time
NUMBER, HIDDEN = re.compile(rb'\br="(\d+)"'), re.compile(rb'\bhidden="(?:1|true)"')


def open_workbook(path: Path, file: IO[bytes], sheet: str | None) -> Table:
    """Open a sheet.

    Args:
        path: path of the workbook.
        file: its content.
        sheet: name of the sheet; None: the first visible one.

    Raises:
        ValueError: if there is no such sheet, or none at all, or the file is damaged or too big.
    """
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="openpyxl")  # about styles and extensions, which are not needed
        with refuse_damage(path):
            with ZipFile(file) as archive:  # openpyxl reads some of it into memory, and checks little
                check_unpacked(path, unpacked_size(archive))
                if damaged := archive.testzip():
                    raise BadZipFile(f"{damaged} is damaged")
            book = load_workbook(file, read_only=True, data_only=True)
            visible = [each for each in book.worksheets if each.sheet_state == "visible"]
            matching = visible if sheet is None else [each for each in book.worksheets if each.title == sheet]
        if not matching:
            listed = ", ".join(worksheet.title for worksheet in book.worksheets) or "none"
            raise ValueError(f"Expected a sheet `{sheet or 'with a table'}` in {path}. It has {listed}.")
        with refuse_damage(path):
            values = matching[0]
            has_formulas, hidden, merged = _read_marks(values)
            formulas = load_workbook(file, read_only=True)[values.title] if has_formulas else None
            records = list(_within_limits(path, _records_of(values, formulas)))
            first, header = next((record for record in records if any(cell.strip() for cell in record[1])), (0, ()))
            below = [record for record in records if record[0] > first]
            _mark_merged(path, below, merged, len(header))
    return Table(
        path,
        tuple(header),
        iter(below),
        "row",
        values.title,
        tuple(worksheet.title for worksheet in visible),
        EITHER,
        hidden=sum(number in hidden for number, _ in below),
    )


def _within_limits(path: Path, records: Iterator[tuple[int, Sequence[str]]]) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the rows that are not empty, without empty cells at their ends; refuse more than any spreadsheet has.

    Raises:
        TooBigError: a ValueError.
    """
    left = MOST_CELLS
    for number, cells in records:
        left -= len(cells)
        if number > MOST_ROWS or len(cells) > MOST_COLUMNS or left < 0:
            raise TooBigError(
                f"Expected at most {MOST_ROWS:,} rows, {MOST_COLUMNS:,} columns and {MOST_CELLS:,} cells in {path}. "
                f"Row {number:,} has more. Save the sheet as `CSV UTF-8`."
            )
        width = next((k for k in range(len(cells), 0, -1) if cells[k - 1]), 0)
        if width:
            yield number, cells[:width]


def _read_marks(sheet: ReadOnlyWorksheet) -> tuple[bool, set[int], list[str]]:
    """Return whether a sheet has a formula, the numbers of its hidden rows, and the ranges of merged cells."""
    has_formulas, hidden, merged, row = False, set[int](), list[str](), 0
    with sheet._get_source() as source:
        rest = b""
        for chunk in iter(lambda: source.read(CHUNK), b""):
            text = rest + chunk
            rest = text[max(text.rfind(b"<"), 0) :]  # a tag may go on in the next chunk
            for tag in TAG.finditer(text, 0, len(text) - len(rest)):
                has_formulas = has_formulas or tag[1] is not None
                if tag[2] is not None:
                    row = int(number[1]) if (number := NUMBER.search(tag[0])) else row + 1
                    hidden |= {row} if HIDDEN.search(tag[0]) else set()
                elif tag[3] is not None:
                    merged.append(tag[3].decode())
    return has_formulas, hidden, merged


def _mark_merged(path: Path, records: list[tuple[int, Sequence[str]]], merged: Sequence[str], width: int) -> None:
    """Let the cells below the first one of a merged range say so: what they are to hold is not known.

    Raises:
        TooBigError: a ValueError.
    """
    from openpyxl.utils import range_boundaries

    numbers, left = [number for number, _ in records], MOST_CELLS
    for text in merged:
        low, top, high, bottom = range_boundaries(text)
        places = range(low - 1, min(high, width))
        rows = range(bisect_right(numbers, top), bisect_right(numbers, bottom))
        left -= len(places) * len(rows)
        if left < 0:
            raise TooBigError(f"Expected merged cells of {path} that do not overlap. Save the sheet as `CSV UTF-8`.")
        for k in rows:
            number, cells = records[k]
            cell = UnknownCell(f"a cell that is merged with others, {text}. Unmerge them, and write a value into each.")
            filled = [*cells, *[""] * (width - len(cells))]
            filled[places.start : places.stop] = [cell] * len(places)
            records[k] = number, filled


def _records_of(values: ReadOnlyWorksheet, formulas: ReadOnlyWorksheet | None) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield row numbers and texts; a formula without a stored value becomes an `UnknownCell`."""
    for sheet in filter(None, (values, formulas)):
        sheet.reset_dimensions()  # some programs write wrong ones
    rows = values.iter_rows(min_row=1, min_col=1)
    both = (
        zip(rows, formulas.iter_rows(min_row=1, min_col=1), strict=True) if formulas else ((row, row) for row in rows)
    )
    for number, (row, written) in enumerate(both, start=1):
        yield number, [*map(_text_of, row, written)]


def _text_of(computed: ReadOnlyCell, written: ReadOnlyCell) -> str:
    """Return the text of a cell: a share as people see it, 12% for 0.12."""
    value = computed.value
    # A formula whose value is an empty text has the type "str"; one that was never computed has the default type.
    if value is None and written.data_type == "f" and computed.data_type == "n":
        return UnknownCell(f"a formula without a value, {written.value}. Open the workbook in Excel and save it again.")
    if isinstance(value, (int, float)) and "%" in (computed.number_format or ""):
        return f"{to_text(round(100 * value, 10))}%"
    return to_text(value)
