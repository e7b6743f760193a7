"""Write tables as text files and workbooks. No torch."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

KINDS = (".csv", ".tsv", ".xlsx")
NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")  # not 007, which is a name
TEXTS = re.compile(r"id|smiles|group|state|nearest_\d+|explanation.*")  # columns of text, regardless of their cells


def check_kind(path: Path) -> None:
    """Raise an error if a table cannot be written in a format.

    Raises:
        MissingExtraError: if a package for writing it is not installed.
    """
    from graph_bandit_env.extras import require  # here, because `--help` reads `KINDS` and imports nothing heavy

    if path.suffix.lower() == ".xlsx":
        require("openpyxl", f"Writing {path.name}")


def write_table(path: Path, rows: Sequence[Sequence[str]]) -> bytes:
    """Return the content of a table file in the format of the path's ending.

    Args:
        path: path of the file, with an ending in `KINDS`.
        rows: texts, with the names of the columns first. In workbooks, numbers are written as numbers.

    Raises:
        ValueError: if the format does not allow a text.
    """
    kind = path.suffix.lower()
    if kind in (".csv", ".tsv"):
        return to_csv(rows, "\t" if kind == ".tsv" else ",").encode()
    return _to_workbook(path.name, rows)


def to_csv(rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    """Write rows of a table as text."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", delimiter=delimiter).writerows(rows)
    return text.getvalue()


def is_number(text: str) -> bool:
    """Return True if a text is a number, and not a name such as 007."""
    return NUMBER.fullmatch(text) is not None


def _to_workbook(name: str, rows: Sequence[Sequence[str]]) -> bytes:
    from openpyxl import Workbook
    from openpyxl.utils.exceptions import IllegalCharacterError

    book, content = Workbook(write_only=True), io.BytesIO()
    sheet, are_texts = book.create_sheet("suggestions"), [TEXTS.fullmatch(name) for name in rows[0]]
    try:
        for row in rows:
            cells = zip(row, are_texts, strict=True)
            sheet.append([text or None if is_text or not is_number(text) else float(text) for text, is_text in cells])
    except IllegalCharacterError as error:
        text = f"Expected cells that a workbook can hold for {name}. One has a character that none can: {str(error)!r}."
        raise ValueError(f"{text} Write a .csv file.") from error
    book.save(content)
    return content.getvalue()
