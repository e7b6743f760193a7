"""Open a table with the reader for its format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graph_bandit_env.extras import require
from graph_bandit_env.tables.parquet import open_parquet
from graph_bandit_env.tables.sdf import open_sdf
from graph_bandit_env.tables.table import Table
from graph_bandit_env.tables.text import open_delimited, open_smi, open_text
from graph_bandit_env.tables.workbook import open_workbook

TEXT = {**dict.fromkeys((".csv", ".tsv", ".txt"), open_delimited), ".smi": open_smi, ".sdf": open_sdf}
OTHERS = (".xlsx", ".parquet")
PACKAGES = {".xlsx": "openpyxl", ".sdf": "rdkit", ".parquet": "pyarrow"}
KINDS = ".csv, .tsv, .txt, .smi, .sdf (each also .gz), .xlsx, .parquet"


@contextmanager
def open_table(path: str | Path, sheet: str | None = None) -> Iterator[Table]:
    """Open a text table, spreadsheet, Parquet or SDF file for reading its rows in a `with` block.

    Text is UTF-8, or UTF-16 with a byte order mark, and delimited by commas, semicolons or tabs. With semicolons,
    numbers may have a decimal comma. Formulas of a workbook are read as their last computed values.

    Args:
        path: `.csv`, `.tsv`, `.txt`, `.smi` or `.sdf`, each also `.gz`, or `.xlsx` or `.parquet`.
        sheet: sheet of a workbook. If None, the first visible one.

    Raises:
        FileNotFoundError: if there is no such file.
        MissingExtraError: if a package that reads it is not installed.
        ValueError: if the format is unknown, or the content does not match the name, is damaged or unpacks to far more
            than the file's size. This error can also occur while rows are read.
    """
    path = Path(path)
    kind, packed = _kind_of(path)
    if not path.is_file():
        raise FileNotFoundError(f"Expected a table. Got {path}, which is not a file.")
    if not is_table(path):
        raise ValueError(f"Expected a file that ends in {KINDS}. Got {path.name}.")
    if sheet is not None and kind != ".xlsx":
        raise ValueError(f"Expected a workbook (.xlsx) with a sheet `{sheet}`. Got {path.name}.")
    if kind in PACKAGES:
        require(PACKAGES[kind], f"Reading {path.name}")
    if kind in TEXT:
        with open_text(path, packed) as text:
            yield TEXT[kind](path, text)
    else:
        with path.open("rb") as file:
            yield open_workbook(path, file, sheet) if kind == ".xlsx" else open_parquet(path, file)


def is_table(path: Path) -> bool:
    """Return True if `open_table` supports the suffix of a file."""
    kind, packed = _kind_of(path)
    return kind in TEXT or (kind in OTHERS and not packed)


def _kind_of(path: Path) -> tuple[str, bool]:
    """Return the suffix of a file without `.gz`, and True if `.gz` follows."""
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix, name.endswith(".gz")
