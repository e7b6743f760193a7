"""Write tables of every kind."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

HEADER = ("id", "smiles", "y", "note")
SMILES = ("C", "CCO", "c1ccccc1", "CC(=O)Nc1ccc(O)cc1", "N[C@@H](C)C(=O)O", "[13CH4]", "F/C=C\\F")
NOTES = ("", "plain", "é;1", "two, or three", 'a "quoted" one', "two\nlines", "7", "µ≥0.5", "\t.")
Rows = Sequence[Sequence[str]]


def make_rows(generator: np.random.Generator, notes: Sequence[str] = NOTES, most: int = 60) -> list[list[str]]:
    """Draw the rows of a table with the columns `HEADER`."""
    return [
        [
            f"m{k}",
            str(generator.choice(SMILES)),
            f"{generator.normal():.3g}",
            notes[int(generator.integers(len(notes)))],
        ]
        for k in range(generator.integers(1, most))
    ]


def write(path: Path, rows: Rows, header: Sequence[str] = HEADER) -> None:
    """Write a table of the kind that its name says; the pages of a Parquet file have checksums."""
    kind = path.name.removeprefix(path.name.split(".")[0])
    if kind == ".xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for number, row in enumerate((header, *rows), start=1):
            for column, text in enumerate(row, start=1):
                book.active.cell(number, column, text).data_type = "s"  # never a formula
        book.save(path)
    elif kind == ".parquet":
        import pyarrow as pa
        from pyarrow.parquet import write_table

        arrays = [pa.array([row[k] for row in rows], pa.string()) for k in range(len(header))]
        write_table(pa.Table.from_arrays(arrays, names=list(header)), path, write_page_checksum=True)
    else:
        content = to_text(kind.removesuffix(".gz"), rows, header).encode()
        path.write_bytes(gzip.compress(content, mtime=0) if kind.endswith(".gz") else content)


def to_text(kind: str, rows: Rows, header: Sequence[str] = HEADER, delimiter: str = "") -> str:
    """Write a text table."""
    if kind == ".smi":
        return "".join(f"{row[1]} {row[0]}\n" for row in rows)
    if kind == ".sdf":
        return "".join(to_record(row[0], row[1], list(zip(header[2:], row[2:], strict=True))) for row in rows)
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter or ("," if kind == ".csv" else "\t")).writerows([header, *rows])
    return text.getvalue()


def to_record(title: str, smiles: str, properties: Sequence[tuple[str, str]]) -> str:
    """Write a record of an SDF file."""
    from rdkit import Chem

    block = Chem.MolToMolBlock(Chem.MolFromSmiles(smiles)).split("\n", 1)[1]
    return f"{title}\n{block}" + "".join(f">  <{name}>\n{cell}\n\n" for name, cell in properties) + "$$$$\n"
