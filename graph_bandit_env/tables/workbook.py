"""Read a sheet of a workbook by openpyxl, with the last computed values of formulas."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from graph_bandit_env.storage import unpacked_size
from graph_bandit_env.tables.damage import TooBigError, check_unpacked, refuse_damage
from graph_bandit_env.tables.table import Table, UnknownCell, to_text

if TYPE_CHECKING:
    from openpyxl.cell.read_only import ReadOnlyCell
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14  # of a sheet of Excel
MOST_CELLS = 20_000_000  # a row counts as far as its last cell
FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")


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
            _check_archive(path, file)
            book = load_workbook(file, read_only=True, data_only=True)
            visible = [worksheet for worksheet in book.worksheets if worksheet.sheet_state == "visible"]
            matching = visible if sheet is None else [each for each in book.worksheets if each.title == sheet]
        if not matching:
            listed = ", ".join(worksheet.title for worksheet in book.worksheets) or "none"
            raise ValueError(f"Expected a sheet `{sheet or 'with a table'}` in {path}. It has {listed}.")
        with refuse_damage(path):
            values = matching[0]
            formulas = load_workbook(file, read_only=True)[values.title] if _has_formulas(values) else None
            records = iter(list(_within_limits(path, _records_of(values, formulas))))
    header = next((cells for _, cells in records if any(cell.strip() for cell in cells)), ())
    return Table(path, tuple(header), records, "row", values.title, tuple(worksheet.title for worksheet in visible))


def _check_archive(path: Path, file: IO[bytes]) -> None:
    """Refuse a workbook that is damaged, or too big unpacked: openpyxl reads some of it into memory, and checks little.

    Raises:
        TooBigError, BadZipFile: ValueError and Exception.
    """
    with ZipFile(file) as archive:
        check_unpacked(path, unpacked_size(archive))
        if damaged := archive.testzip():
            raise BadZipFile(f"{damaged} is damaged")


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


def _has_formulas(sheet: ReadOnlyWorksheet) -> bool:
    with sheet._get_source() as source:
        end = b""
        for chunk in iter(lambda: source.read(1 << 20), b""):
            if FORMULA.search(end + chunk):
                return True
            end = chunk[-20:]
    return False


def _records_of(values: ReadOnlyWorksheet, formulas: ReadOnlyWorksheet | None) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield row numbers and texts; a formula without a stored value becomes an `UnknownCell`."""
    for sheet in filter(None, (values, formulas)):
        sheet.reset_dimensions()  # some programs write wrong ones
    if formulas is None:
        for number, row in enumerate(values.iter_rows(min_row=1, min_col=1, values_only=True), start=1):
            yield number, [to_text(value) for value in row]
        return
    both = zip(values.iter_rows(min_row=1, min_col=1), formulas.iter_rows(min_row=1, min_col=1), strict=True)
    for number, (row, written) in enumerate(both, start=1):
        yield number, [_cell(*pair) for pair in zip(row, written, strict=True)]


def _cell(computed: ReadOnlyCell, written: ReadOnlyCell) -> str:
    # A formula whose value is an empty text has the type "str"; one that was never computed has the default type.
    if written.data_type == "f" and computed.value is None and computed.data_type == "n":
        return UnknownCell(f"a formula without a value, {written.value}. Open the workbook in Excel and save it again.")
    return to_text(computed.value)
