"""Tables of results that people keep in a spreadsheet."""

from __future__ import annotations

import csv
import gzip
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

FAILED = ("failed", "fail")
PENDING = ("pending", "running")
NOTHING = ("", "-", "nan", "na", "n/a", "#n/a", "nd", "n.d.")
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
SHOWN = 10  # problems in a message


@dataclass(frozen=True)
class Columns:
    """How columns are called."""

    value: str
    """Measured values: a number, `failed`, `pending`, or nothing."""
    identifier: str | None = None
    """Names of molecules."""
    smiles: str = "smiles"
    """SMILES."""


@dataclass(frozen=True)
class MeasuredRow:
    """A row that says something about a molecule."""

    file: str
    """Path of the table."""
    line: int
    """As an editor counts."""
    identifier: str
    """Name; empty where there is none."""
    smiles: str
    """SMILES as written; empty where there is none."""
    value: float | str
    """A number, "failed" or "pending"."""

    @property
    def place(self) -> str:
        """Return where the row is, for people."""
        return f"{Path(self.file).name}, line {self.line}"


class BadResultsError(ValueError):
    """Rows that cannot be understood; nothing is taken from the file then."""

    def __init__(self, problems: Sequence[str]) -> None:
        listed = "\n".join(f"  {problem}" for problem in problems[:SHOWN])
        more = f"\n  and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        super().__init__(f"Expected results that can be understood. {len(problems)} rows cannot:\n{listed}{more}")


def read_measured(paths: Iterable[Path], columns: Columns) -> list[MeasuredRow]:
    """Read the rows of some tables that say something: a value, or that there is or will be none.

    Args:
        paths: `.csv` or `.tsv`, each also `.gz`; separated by commas, semicolons or tabs, whichever the header has.
        columns: `value` is needed, and `identifier` or `smiles`.

    Raises:
        FileNotFoundError: if there is no such file.
        BadResultsError: a ValueError, with file and line of each row whose value cannot be understood.
        ValueError: if a column is missing, or no row says anything.
    """
    rows: list[MeasuredRow] = []
    problems: list[str] = []
    for path in paths:
        try:
            _read_table(path, columns, rows, problems)
        except UnicodeDecodeError as error:
            raise ValueError(f"Expected {path} in UTF-8. Save it as `CSV UTF-8`. Got: {error}.") from error
    if problems:
        raise BadResultsError(problems)
    if not rows:
        raise ValueError(
            f"Expected at least one value in column `{columns.value}`. Got none. Without `--measured` a first batch is "
            "suggested from what the molecules look like alone."
        )
    return rows


def read_header(path: Path) -> list[str]:
    """Return the names of the columns of a table; nothing, where it has none or cannot be read."""
    name = path.name.lower()
    if not path.is_file() or name.endswith((".smi", ".smi.gz")):
        return []
    if name.endswith(".parquet"):
        from pyarrow.parquet import read_schema  # the extra `parquet`

        return list(read_schema(path).names)
    with _open_text(path) as file:
        header = file.readline()
    return next(csv.reader([header], delimiter=_delimiter_of(header)), [])


def _read_table(path: Path, columns: Columns, rows: list[MeasuredRow], problems: list[str]) -> None:
    """Append the rows of a table, and what is wrong with others."""
    if not path.is_file():
        raise FileNotFoundError(f"Expected a table of results. Got {path}, which is no file.")
    if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise ValueError(f"Expected a text table. Got {path.name}: save it as CSV.")
    with _open_text(path) as file:
        header = file.readline()
        delimiter = _delimiter_of(header)
        names = next(csv.reader([header], delimiter=delimiter), [])
        columns = _columns_of(names, columns)
        _check_columns(path, names, columns)
        reader = csv.DictReader(file, fieldnames=names, delimiter=delimiter)
        for record in reader:
            line = reader.line_num + 1
            place = f"{path.name}, line {line}"
            cell = str(record.get(columns.value) or "").strip()
            if delimiter == ";" and DECIMAL_COMMA.fullmatch(cell):  # as Excel writes it where the comma is decimal
                cell = cell.replace(",", ".")
            try:
                value = _read_value(cell)
            except ValueError as error:
                problems.append(f"{place}: {error}")
                continue
            identifier = str(record.get(columns.identifier or "") or "").strip()
            smiles = str(record.get(columns.smiles) or "").strip()
            if value is not None and (identifier or smiles):
                rows.append(MeasuredRow(str(path), line, identifier, smiles, value))
            elif value is not None:
                problems.append(f"{place}: a value without a molecule; its columns are {', '.join(names)}.")


def _read_value(text: str) -> float | str | None:
    lowered = text.lower()
    if lowered in FAILED:
        return "failed"
    if lowered in PENDING:
        return "pending"
    if lowered in NOTHING:
        return None
    try:
        value = float(text)
    except ValueError:
        remedy = " Write 3.5 for three and a half, 1234 for a thousand." if "," in text else ""
        raise ValueError(f"expected a number, `failed`, `pending` or nothing. Got {text!r}.{remedy}") from None
    if not math.isfinite(value):
        raise ValueError(f"expected a finite number. Got {text!r}.")
    return value


def _check_columns(path: Path, names: Sequence[str], columns: Columns) -> None:
    listed = ", ".join(names) or "none"
    if columns.value not in names:
        raise ValueError(f"Expected a column `{columns.value}` in {path}. It has {listed}.")
    if columns.identifier not in names and columns.smiles not in names:
        raise ValueError(
            f"Expected a column `id` or `smiles` in {path}, to know the molecules by. It has {listed}: name one by "
            "`--id` or `--smiles`."
        )


def _columns_of(names: Sequence[str], columns: Columns) -> Columns:
    """Return the columns of one table: those that were named, or `id` and `smiles` as `suggest` writes them."""
    identifier = columns.identifier if columns.identifier in names else "id"
    return replace(columns, identifier=identifier, smiles=columns.smiles if columns.smiles in names else "smiles")


def _delimiter_of(header: str) -> str:
    return max(",;\t", key=header.count)


def _open_text(path: Path) -> IO[str]:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")
