"""Read a sheet of a workbook with openpyxl, with the last computed values of formulas."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from graph_bandit_env.tables.damage import TooBigError, check_archive, refuse_damage
from graph_bandit_env.tables.table import EITHER, Table, UnknownCell, to_text

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14  # of a sheet of Excel
MOST_CELLS = 20_000_000  # counted up to the last cell of each row, and over merged ranges


def open_workbook(path: Path, file: IO[bytes], sheet: str | None) -> Table:
    """Open a sheet.

    Args:
        path: path of the workbook.
        file: its content.
        sheet: name of the sheet. If None, the first visible one.

    Raises:
        ValueError: if there is no such sheet, or none at all, or the file is damaged or too big.
    """
    from openpyxl import load_workbook

    check_archive(path)  # openpyxl reads parts into memory without checks
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="openpyxl")  # about styles and extensions, which are ignored
        with refuse_damage(path):
            book = load_workbook(file, read_only=True, data_only=True)
            visible = [each for each in book.worksheets if each.sheet_state == "visible"]
            matching = visible if sheet is None else [each for each in book.worksheets if each.title == sheet]
        if not matching:
            listed = ", ".join(worksheet.title for worksheet in book.worksheets) or "none"
            raise ValueError(f"Expected a sheet `{sheet or 'with a table'}` in {path}. It has {listed}.")
        with refuse_damage(path):
            records, hidden = _read_sheet(path, matching[0])
    (_, header), *below = records or [(0, [])]
    titles = tuple(worksheet.title for worksheet in visible)
    hidden_rows = sum(number in hidden for number, _ in below)
    return Table(path, tuple(header), below, "row", matching[0].title, titles, EITHER, hidden=hidden_rows)


def _read_sheet(path: Path, sheet: ReadOnlyWorksheet) -> tuple[list[tuple[int, list[str]]], set[int]]:
    """Return the number and cells of each non-empty row, and the numbers of hidden rows.

    The cells below the first one of a merged range are an `UnknownCell`, as is a formula without a stored value.

    Raises:
        TooBigError: a ValueError.
    """
    from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

    class Parser(WorkSheetParser):  # type: ignore[misc]
        """Parser that marks formulas without a value."""

        def parse_cell(self, element: Any) -> dict[str, Any]:
            cell: dict[str, Any] = super().parse_cell(element)
            # A formula with an empty text as value has the type "str", and one never computed the default type.
            if cell["value"] is None and cell["data_type"] == "n" and element.find(FORMULA_TAG) is not None:
                formula = f"a formula without a value, ={element.findtext(FORMULA_TAG)}."
                cell["value"] = UnknownCell(f"{formula} Open the workbook in Excel and save it again.")
            return cell

    book, records, left = sheet.parent, list[tuple[int, list[str]]](), MOST_CELLS
    too_big = TooBigError(
        f"Expected at most {MOST_ROWS:,} rows, {MOST_COLUMNS:,} columns and {MOST_CELLS:,} cells in {path}. Save the "
        "sheet as `CSV UTF-8`."
    )
    with sheet._get_source() as source:
        parser = Parser(source, sheet._shared_strings, True, book.epoch, book._date_formats, book._timedelta_formats)
        for number, row in parser.parse():
            width = max((cell["column"] for cell in row), default=0)
            left -= width
            if number > MOST_ROWS or width > MOST_COLUMNS or left < 0:
                raise too_big
            cells = [""] * width
            for cell in row:
                cells[cell["column"] - 1] = _text_of(sheet, cell)
            if any(map(str.strip, cells)) and (not records or number > records[-1][0]):
                records.append((number, cells))
    numbers = [number for number, _ in records]
    for merged in parser.merged_cells.mergeCell if parser.merged_cells else ():
        rows = records[bisect_right(numbers, merged.min_row) : bisect_right(numbers, merged.max_row)]
        low, high = merged.min_col - 1, min(merged.max_col, len(records[0][1]) if records else 0)
        left -= len(rows) * max(high - low, 0)
        if left < 0:
            raise too_big
        mark = f"a cell that is merged with others, {merged.coord}. Unmerge them, and write a value into each."
        for _, cells in rows if high > low else ():
            cells.extend([""] * (high - len(cells)))
            cells[low:high] = [UnknownCell(mark)] * (high - low)
    hidden = {int(number) for number, row in parser.row_dimensions.items() if row.get("hidden") in ("1", "true")}
    return records, hidden


def _text_of(sheet: ReadOnlyWorksheet, cell: dict[str, Any]) -> str:
    """Return the text of a cell, with a percentage as displayed: 12% for 0.12."""
    from openpyxl.cell.read_only import ReadOnlyCell

    value = cell["value"]
    if isinstance(value, (int, float)) and "%" in (ReadOnlyCell(sheet, **cell).number_format or ""):
        return f"{to_text(round(100 * value, 10))}%"
    return to_text(value)
