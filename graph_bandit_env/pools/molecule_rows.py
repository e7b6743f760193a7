"""Rows of a file of molecules: read, checked and merged before any graph is made."""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".smi", ".smi.gz", ".parquet")


@dataclass(frozen=True)
class Row:
    """One line of a file."""

    line: int
    """As an editor counts; of a Parquet file, the row from 1."""
    smiles: str
    identifier: str | None
    target: float | None
    """None where the cell is empty."""


class BadRowsError(ValueError):
    """Rows that are no molecules, or whose target is no number."""

    def __init__(self, path: Path, problems: list[tuple[int, str]], shown: int = 10) -> None:
        listed = "\n".join(f"  line {line}: {text}" for line, text in problems[:shown])
        more = f"\n  and {len(problems) - shown} more" if len(problems) > shown else ""
        super().__init__(
            f"Expected {path} to hold molecules. {len(problems)} rows are bad:\n{listed}{more}\n"
            'Mend them, or leave them out with on_error="skip" (on the command line --skip-bad-rows).'
        )
        self.problems = tuple(problems)


def read_rows(
    path: Path, smiles: str, identifier: str | None, target: str | None
) -> tuple[list[Row], list[tuple[int, str]]]:
    """Read the rows of a file.

    Args:
        path: a table of one of `SUFFIXES`. A `.smi` file has no header: SMILES, then perhaps an identifier.
        smiles: column of the SMILES.
        identifier: column of the names, if any.
        target: column of the measured values, if any.

    Returns:
        Rows, and the problems of those that could not be read: line and text.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if its kind is not known, or a column is not there.
    """
    if not path.is_file():
        raise FileNotFoundError(f"Expected a file of molecules. Got {path}.")
    rows, problems = [], []
    for line, record in _records(path, smiles, identifier, target):
        text = str(record.get(smiles) or "").strip()
        value = record.get(target) if target is not None else None
        try:
            number = None if value is None or str(value).strip() == "" else float(value)
        except ValueError:
            problems.append((line, f"expected a number in `{target}`. Got {value!r}."))
            continue
        if number is not None and math.isinf(number):
            problems.append((line, f"expected a finite number in `{target}`. Got {value!r}."))
        elif not text:
            problems.append((line, f"expected a SMILES in `{smiles}`. Got nothing."))
        else:
            name = _name(record.get(identifier)) if identifier is not None else None
            missing = number is None or math.isnan(number)
            rows.append(Row(line, text, name, None if missing else number))
    return rows, problems


def _name(cell: Any) -> str | None:
    """Return an identifier as text; a Parquet file may have numbers, or nothing, in its place."""
    if isinstance(cell, float):
        cell = None if math.isnan(cell) else int(cell) if cell.is_integer() else cell
    return None if cell is None else str(cell).strip() or None


def _records(
    path: Path, smiles: str, identifier: str | None, target: str | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    kind = next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), None)
    if kind is None:
        raise ValueError(f"Expected a file that ends in {', '.join(SUFFIXES)}. Got {path.name}.")
    if kind == ".parquet":
        import pandas as pd  # which reads it by pyarrow, the extra `parquet`

        table = pd.read_parquet(path)
        _check_columns(path, [str(name) for name in table], smiles, identifier, target)
        yield from enumerate(table.to_dict("records"), start=1)
        return
    with _open_text(path) as file:
        if kind.startswith(".smi"):
            for line, text in enumerate(file, start=1):
                first, *rest = text.split(maxsplit=1)[:2] if text.strip() else [""]
                if first:
                    yield line, {smiles: first, identifier or "": rest[0].strip() if rest else None}
            return
        reader = csv.DictReader(file, delimiter="\t" if kind.startswith(".tsv") else ",")
        _check_columns(path, list(reader.fieldnames or []), smiles, identifier, target)
        for record in reader:
            yield reader.line_num, record


def _check_columns(path: Path, found: list[str], smiles: str, identifier: str | None, target: str | None) -> None:
    for column in (smiles, identifier, target):
        if column is not None and column not in found:
            alike = [f" Did you mean `{name}`?" for name in found if name.casefold() == column.casefold()]
            listed = ", ".join(found) or "none"
            raise ValueError(f"Expected a column `{column}` in {path}. It has {listed}.{''.join(alike[:1])}")


def _open_text(path: Path) -> IO[str]:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")
