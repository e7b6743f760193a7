"""Read the table of a pool, or a folder of tables, in chunks of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from graph_bandit_campaign.names import sheet_remarks
from graph_bandit_campaign.pool.prepared.manifest import FORMAT, MANIFEST, Question, TableFile, sha256_of, software
from graph_bandit_campaign.pool.prepared.part import own
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
from graph_bandit_env.extras import require
from graph_bandit_env.tables import Table, find_naming, open_table

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = re.compile(r"(?i)[^._].*(\.(csv|tsv|txt|smi|sdf)(\.gz)?|\.xlsx|\.parquet)")  # of files that a folder may hold
LONGEST = 1000  # characters of a bad row that are kept

BadRow = tuple[int, int, str, str]
"""Number of the file, row as people count, what stands there, and the problem."""


def ask(settings: PrepareSettings) -> tuple[Question, list[str]]:
    """Return all that a pool depends on, for which all bytes of the table are read; and remarks on sheets and rows.

    Raises:
        FileNotFoundError: if there is no such file or folder, or it has no table.
        ValueError: if a table cannot be opened, lacks a column, or the tables of a folder have different columns.
        ImportError: if RDKit, pyarrow, DuckDB, or the package that reads the table is not installed.
    """
    for module in ("rdkit", "pyarrow", "duckdb"):
        require(module, "Preparing a pool")
    first, *others = paths = _paths_of(settings.pool)
    with open_table(first, settings.sheet) as table:
        naming = find_naming(table, settings.smiles, settings.id, settings.entry_column)
        smiles, identifier = naming.smiles or settings.smiles, naming.identifier or settings.id
        used = [smiles, *filter(None, [identifier])]
        next(table.rows([*used, *settings.entry_column]), None)  # says which column is missing
        columns = tuple(name for name in table.columns if name and name not in used)
        decimal, unit = table.decimal, table.unit
        remarks = [*sheet_remarks(table, settings.sheet, "--sheet"), *naming.remarks]
    for path in others:
        with open_table(path, settings.sheet) as table:
            remarks += sheet_remarks(table, settings.sheet, "--sheet")
            differ = {*used, *columns} ^ set(filter(None, table.columns))
            if differ or table.decimal != decimal:
                raise ValueError(
                    f"Expected tables with equal columns and decimal marks in {settings.pool}. {first.name} and "
                    f"{path.name} differ in {', '.join(sorted(differ)) or 'decimal marks'}."
                )
    files = [(path.name, path.stat(), sha256_of(path)) for path in paths]
    question = Question(
        format=FORMAT,
        files=tuple(
            TableFile(name=name, bytes=status.st_size, modified=status.st_mtime, sha256=digest)
            for name, status, digest in files
        ),
        unit=unit,
        decimal=decimal,
        smiles=smiles,
        identifier=identifier,
        is_guessed=settings.id is None and identifier != "id",
        sheet=settings.sheet,
        columns=columns,
        traits=settings.traits,
        stereo=settings.stereo,
        most_atoms=settings.most_atoms,
        salts=settings.salts,
        part_rows=settings.part_rows,
        block=settings.block,
        versions=software(),
    )
    return question, remarks


def read_chunks(path: Path, question: Question) -> Iterator[tuple[pa.Table, list[BadRow]]]:
    """Read all rows of a table, as many at a time as become one part.

    Yields:
        Rows: `file`, `row`, `id`, `written` and the other columns of the table; and the rows among them, or after
        the last chunk, that could not be read.

    Raises:
        ValueError: if a table is damaged, or has changed since it was asked about.
    """
    import pyarrow as pa

    columns = [question.smiles, *filter(None, [question.identifier])]
    names = ("written", *["id"] * (len(columns) - 1), *map(own, question.columns))
    schema = pa.schema([("file", pa.int32()), ("row", pa.int64()), *((name, pa.large_string()) for name in names)])
    rows, problems, paths = list[tuple[object, ...]](), list[BadRow](), _paths_of(path)

    def pack() -> pa.Table:
        for one, before in zip(paths, question.files, strict=True):  # so all that was read is of the same table
            status = one.stat()
            if (status.st_size, status.st_mtime) != (before.bytes, before.modified):
                raise ValueError(f"Expected {one} to stay as it was while it was read. It has changed. Start again.")
        cells = zip(*rows, strict=True) if rows else [()] * len(schema)
        return pa.Table.from_pydict(dict(zip(schema.names, cells, strict=True)), schema)

    for index, one in enumerate(paths):
        with open_table(one, question.sheet) as table:
            for row, cells in table.rows(columns, texts=question.columns):
                problems += _drain(table, index)
                if len(rows) == question.part_rows:
                    yield pack(), problems
                    rows, problems = [], []
                rows.append((index, row, *cells))
            problems += _drain(table, index)
    if rows or problems:
        yield pack(), problems


def _paths_of(path: Path) -> list[Path]:
    if (path / MANIFEST).is_file():
        raise ValueError(f"Expected a table, or a folder of tables. {path} is a prepared pool already.")
    if not path.is_dir():
        return [path]
    paths = sorted(entry for entry in path.iterdir() if entry.is_file() and KINDS.fullmatch(entry.name))
    if not paths:
        raise FileNotFoundError(f"Expected a folder with tables: .csv, .smi, .parquet and so on. {path} has none.")
    return paths


def _drain(table: Table, index: int) -> list[BadRow]:
    drained = [(index, number, "", text[:LONGEST]) for number, text in table.problems]
    table.problems.clear()
    return drained
