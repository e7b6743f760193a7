"""Rows of finished work in a CSV file, which a benchmark that goes on does not do again."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

Row = tuple[str | int | float, ...]


def append_rows(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Append rows, with a header before the first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = path.is_file() and path.stat().st_size > 0
    with path.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([*rows] if begun else [columns, *rows])


def read_rows(path: Path, columns: Sequence[str]) -> list[list[str]]:
    """Return the rows of a file, of which there may be none; one that was cut short is taken away.

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
