"""A sheet of a workbook, read by openpyxl: values as they were last computed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from graph_bandit_env.tables.table import Table, UnknownCell, to_text

if TYPE_CHECKING:
    from openpyxl.cell.read_only import ReadOnlyCell
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")


def open_workbook(path: Path, file: IO[bytes], sheet: str | None) -> Table:
    """Open a sheet.

    Args:
        path: of the workbook.
        file: its content.
        sheet: name; None: the first that can be seen.

    Raises:
        ValueError: if there is no such sheet, or none at all.
    """
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="openpyxl")  # of styles and extensions, which are not needed
        try:
            book = load_workbook(file, read_only=True, data_only=True)
            visible = [one for one in book.worksheets if one.sheet_state == "visible"]
            offered = visible if sheet is None else [one for one in book.worksheets if one.title == sheet]
            if not offered:
                listed = ", ".join(one.title for one in book.worksheets) or "none"
                raise ValueError(f"Expected a sheet `{sheet or 'with a table'}` in {path}. It has {listed}.")
            values, formulas = offered[0], None
            if _has_formulas(values):
                formulas = load_workbook(file, read_only=True)[values.title]
            records = iter(list(_records_of(values, formulas)))
        except KeyError as error:  # a part that every workbook has
            raise ValueError(f"Expected {path} to be a workbook. Got: {error}.") from error
    header = next((cells for _, cells in records if any(cell.strip() for cell in cells)), ())
    return Table(path, tuple(header), records, "row", values.title, tuple(one.title for one in visible))


def _has_formulas(sheet: ReadOnlyWorksheet) -> bool:
    with sheet._get_source() as source:
        end = b""
        for chunk in iter(lambda: source.read(1 << 20), b""):
            if FORMULA.search(end + chunk):
                return True
            end = chunk[-20:]
    return False


def _records_of(values: ReadOnlyWorksheet, formulas: ReadOnlyWorksheet | None) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield row numbers and texts; a formula whose value the file does not hold cannot be known."""
    for sheet in filter(None, (values, formulas)):
        sheet.reset_dimensions()  # which some programs write wrongly
    if formulas is None:
        for number, row in enumerate(values.iter_rows(min_row=1, min_col=1, values_only=True), start=1):
            yield number, [to_text(value) for value in row]
        return
    both = zip(values.iter_rows(min_row=1, min_col=1), formulas.iter_rows(min_row=1, min_col=1), strict=True)
    for number, (row, written) in enumerate(both, start=1):
        yield number, [_cell(*pair) for pair in zip(row, written, strict=True)]


def _cell(computed: ReadOnlyCell, written: ReadOnlyCell) -> str:
    # A formula whose value is an empty text is of type "str", one that was never computed is of the default type.
    if written.data_type == "f" and computed.value is None and computed.data_type == "n":
        return UnknownCell(f"a formula without a value, {written.value}. Open the workbook in Excel and save it again.")
    return to_text(computed.value)
