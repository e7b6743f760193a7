"""Which reader opens which kind of file, and what is said where it cannot."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, cast

from graph_bandit_env.tables.parquet import open_parquet
from graph_bandit_env.tables.sdf import open_sdf
from graph_bandit_env.tables.table import Table
from graph_bandit_env.tables.text import open_delimited, open_smi
from graph_bandit_env.tables.workbook import open_workbook

TEXT = {**dict.fromkeys((".csv", ".tsv", ".txt"), open_delimited), ".smi": open_smi, ".sdf": open_sdf}
OTHERS = (".xlsx", ".parquet")
PACKAGES = {".xlsx": ("openpyxl", "chem"), ".sdf": ("rdkit", "chem"), ".parquet": ("pyarrow", "parquet")}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
KINDS = ".csv, .tsv, .txt, .smi, .sdf (each also .gz), .xlsx, .parquet"


@contextmanager
def open_table(path: str | Path, sheet: str | None = None) -> Iterator[Table]:
    """Open a table of text, a spreadsheet, a Parquet or an SDF file; read its rows inside the `with` block.

    Text is UTF-8, with commas, semicolons (then decimal commas are numbers too) or tabs between the cells. Of formulas
    in a workbook the last computed values are taken.

    Args:
        path: `.csv`, `.tsv`, `.txt`, `.smi` or `.sdf`, each also `.gz`; `.xlsx` or `.parquet`.
        sheet: of a workbook; None: the first that can be seen.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if a package that reads it is not installed.
        ValueError: if its kind is not known, or it is not what its name says; also while its rows are read.
    """
    path = Path(path)
    name = path.name.lower()
    packed = name.endswith(".gz")
    kind = Path(name.removesuffix(".gz")).suffix
    if not path.is_file():
        raise FileNotFoundError(f"Expected a table. Got {path}, which is no file.")
    if kind not in TEXT and (kind not in OTHERS or packed):
        remedy = " Save it as .xlsx or CSV UTF-8." if kind in (".xls", ".xlsb", ".xlsm", ".ods") else ""
        raise ValueError(f"Expected a file that ends in {KINDS}. Got {path.name}.{remedy}")
    if sheet is not None and kind != ".xlsx":
        raise ValueError(f"Expected a workbook (.xlsx) to read sheet `{sheet}` of. Got {path.name}.")
    package, extra = PACKAGES.get(kind, ("", ""))
    if package and find_spec(package) is None:
        raise ImportError(f"Reading {path.name} needs {package}: pip install 'graph-bandit-env[{extra}]'.")
    try:
        if kind in TEXT:
            with (gzip.open if packed else open)(path, "rt", encoding="utf-8-sig", newline="") as text:
                yield TEXT[kind](path, cast("IO[str]", text))
        else:
            with path.open("rb") as file:
                yield open_workbook(path, file, sheet) if kind == ".xlsx" else open_parquet(path, file)
    except UnicodeDecodeError as error:
        found = "UTF-16, as Excel writes `Unicode Text`" if error.object[:2] in UTF_16 else str(error)
        raise ValueError(f"Expected {path} in UTF-8. Save it as `CSV UTF-8`. Got: {found}.") from error
    except (gzip.BadGzipFile, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"Expected {path} to be what its name says, and whole. Got: {error}.") from error
