"""Read the table of a pool, or a folder of tables, in chunks of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graph_bandit_campaign.names import sheet_remarks
from graph_bandit_campaign.pool.prepared.columns import own
from graph_bandit_campaign.pool.prepared.manifest import (
    FORMAT,
    MANIFEST,
    Question,
    TableFile,
    sha256_of,
    software,
)
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
from graph_bandit_env.extras import require
from graph_bandit_env.tables import Table, find_naming, open_table

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = re.compile(r"(?i)[^._].*(\.(csv|tsv|txt|smi|sdf)(\.gz)?|\.xlsx|\.parquet)")  # of files that a folder may hold
LONGEST = 1000  # characters of a bad row that are kept

BadRow = tuple[int, int, str, str]
"""Number of the file, row as people count, what stands there, and the problem."""


class Source:
    """The table of a pool: one file, or the tables of a folder in the order of their names.

    Args:
        settings: settings of the command.

    Raises:
        FileNotFoundError: if there is no such file or folder, or it has no table.
        ValueError: if a table cannot be opened, lacks a column, or the tables of a folder have different columns.
        ImportError: if RDKit, pyarrow, DuckDB, or the package that reads the table is not installed.
    """

    files: tuple[Path, ...]
    """The files, in the order in which they are read."""
    columns: tuple[str, ...]
    """Columns besides SMILES and names."""
    remarks: list[str]
    """Remarks on sheets and hidden rows, for people."""

    def __init__(self, settings: PrepareSettings) -> None:
        for module in ("rdkit", "pyarrow", "duckdb"):
            require(module, "Preparing a pool")
        self._settings = settings
        self.files = _files_of(settings.pool)
        with open_table(self.files[0], settings.sheet) as table:
            naming = find_naming(table, settings.smiles, settings.id, settings.entry_column)
            self._describe(table, naming.smiles or settings.smiles, naming.identifier or settings.id, settings)
            self.remarks = [*sheet_remarks(table, settings.sheet, "--sheet"), *naming.remarks]
        every = {self.smiles, *filter(None, [self.identifier]), *self.columns}
        for path in self.files[1:]:
            with open_table(path, settings.sheet) as table:
                self.remarks += sheet_remarks(table, settings.sheet, "--sheet")
                differ = every ^ set(filter(None, table.columns))
                if differ:
                    raise ValueError(
                        f"Expected tables with equal columns in {settings.pool}. Only one of {self.files[0].name} and "
                        f"{path.name} has {', '.join(sorted(differ))}."
                    )
                if table.decimal != self.decimal:
                    raise ValueError(
                        f"Expected tables with equal decimal marks in {settings.pool}. Got `{self.decimal}` in "
                        f"{self.files[0].name}, and `{table.decimal}` in {path.name}."
                    )

    def _describe(self, table: Table, smiles: str, identifier: str | None, settings: PrepareSettings) -> None:
        self.smiles, self.identifier, self.is_guessed = smiles, identifier, settings.id is None and identifier != "id"
        columns = [smiles, *filter(None, [identifier])]
        next(table.rows([*columns, *settings.entry_column]), None)  # says which column is missing
        self.columns = tuple(name for name in table.columns if name and name not in columns)
        self.decimal, self.unit = table.decimal, table.unit

    def ask(self) -> Question:
        """Return all that the pool depends on; all bytes of the table are read for it."""
        settings, files = self._settings, []
        for path in self.files:
            status = path.stat()
            files.append(
                TableFile(name=path.name, bytes=status.st_size, modified=status.st_mtime, sha256=sha256_of(path))
            )
        return Question(
            format=FORMAT,
            files=tuple(files),
            unit=self.unit,
            decimal=self.decimal,
            smiles=self.smiles,
            identifier=self.identifier,
            is_guessed=self.is_guessed,
            sheet=settings.sheet,
            columns=self.columns,
            traits=settings.traits,
            stereo=settings.stereo,
            most_atoms=settings.most_atoms,
            salts=settings.salts,
            part_rows=settings.part_rows,
            block=settings.block,
            versions=software(),
        )

    def check_unchanged(self, records: Sequence[TableFile]) -> None:
        """Refuse a table that was changed since `ask`.

        Raises:
            ValueError: if it was.
        """
        for path, record in zip(self.files, records, strict=True):
            status = path.stat()
            if (status.st_size, status.st_mtime) != (record.bytes, record.modified):
                raise ValueError(f"Expected {path} to stay as it was while it was read. It has changed. Start again.")

    def chunks(self) -> Iterator[tuple[pa.Table, list[BadRow]]]:
        """Read all rows, as many at a time as become one part.

        Yields:
            Rows: `file`, `row`, `id`, `written` and the other columns of the table; and the rows among them, or after
            the last chunk, that could not be read.

        Raises:
            ValueError: if a table is damaged.
        """
        import pyarrow as pa

        columns = [self.smiles, *filter(None, [self.identifier])]
        names = ("written", *["id"] * (self.identifier is not None), *map(own, self.columns))
        schema = pa.schema([("file", pa.int32()), ("row", pa.int64()), *((name, pa.large_string()) for name in names)])
        rows, problems = list[tuple[object, ...]](), list[BadRow]()

        def pack() -> pa.Table:
            cells = zip(*rows, strict=True) if rows else [()] * len(schema)
            return pa.Table.from_pydict(dict(zip(schema.names, cells, strict=True)), schema)

        for index, path in enumerate(self.files):
            with open_table(path, self._settings.sheet) as table:
                for row, cells in table.rows(columns, texts=self.columns):
                    problems += _drain(table, index)
                    if len(rows) == self._settings.part_rows:
                        yield pack(), problems
                        rows, problems = [], []
                    rows.append((index, row, *cells))
                problems += _drain(table, index)
        if rows or problems:
            yield pack(), problems


def _files_of(path: Path) -> tuple[Path, ...]:
    if (path / MANIFEST).is_file():
        raise ValueError(f"Expected a table, or a folder of tables. {path} is a prepared pool already.")
    if not path.is_dir():
        return (path,)
    files = tuple(sorted(entry for entry in path.iterdir() if entry.is_file() and KINDS.fullmatch(entry.name)))
    if not files:
        raise FileNotFoundError(f"Expected a folder with tables: .csv, .smi, .parquet and so on. {path} has none.")
    return files


def _drain(table: Table, index: int) -> list[BadRow]:
    drained = [(index, number, "", text[:LONGEST]) for number, text in table.problems]
    table.problems.clear()
    return drained
