"""Keep finished work as rows of a CSV file, so that a benchmark can resume without repeating it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

Row = tuple[str | int | float, ...]


def append_rows(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Append rows by one write, which a killed program has done or not; an empty or new file gets a header first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    has_header, text = path.is_file() and path.stat().st_size > 0, io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*rows] if has_header else [columns, *rows])
    with path.open("ab", buffering=0) as file:
        file.write(text.getvalue().encode())


def read_rows(path: Path, columns: Sequence[str]) -> list[list[str]]:
    """Return the rows of a file, which may be missing; an unfinished last line is removed from it.

    Raises:
        ValueError: if the file has other columns.
    """
    text = path.read_text() if path.is_file() else ""
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    header, *body = list(csv.reader(whole.splitlines())) or [list(columns)]
    if header != list(columns):
        raise ValueError(f"Expected {path} to have the columns {', '.join(columns)}. It has {', '.join(header)}.")
    return body
