"""Read the table of a pool, or a folder of tables, in chunks of rows."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from graph_bandit_campaign.names import sheet_remarks
from graph_bandit_campaign.pool.prepared.columns import own
from graph_bandit_campaign.pool.prepared.manifest import MANIFEST, TableFile
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
from graph_bandit_env.tables import Table, find_naming, open_table

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = re.compile(r"(?i)[^._].*(\.(csv|tsv|txt|smi|sdf)(\.gz)?|\.xlsx|\.parquet)")  # of files that a folder may hold
PIECE = 1 << 20  # bytes that are read at a time
LONGEST = 1000  # characters of a bad row that are kept

BadRow = tuple[int, int, str, str]
"""Number of the file, row as people count, what stands there, and the problem."""


@dataclass
class Chunk:
    """Rows of the table that become one part."""

    number: int
    columns: dict[str, list[object]]
    """Cells of the rows: `file`, `row`, `id`, `written` and the other columns of the table."""
    problems: list[BadRow] = field(default_factory=list)
    """Rows after the last chunk, or among these, that could not be read."""

    def __len__(self) -> int:
        return len(self.columns["row"])

    def to_bytes(self) -> bytes:
        """Pack the rows, to send them to a worker."""
        import pyarrow as pa

        kinds = {"file": pa.int32(), "row": pa.int64()}
        arrays = {name: pa.array(cells, kinds.get(name, pa.large_string())) for name, cells in self.columns.items()}
        table = pa.table(arrays)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())


def unpack(content: bytes) -> pa.Table:
    """Return the rows that `Chunk.to_bytes` packed."""
    import pyarrow as pa

    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()


class Source:
    """The table of a pool: one file, or the tables of a folder in the order of their names.

    Args:
        settings: settings of the command.

    Raises:
        FileNotFoundError: if there is no such file or folder, or it has no table.
        ValueError: if a table cannot be opened, lacks a column, or the tables of a folder have different columns.
        ImportError: if a package that reads a table is not installed.
    """

    files: tuple[Path, ...]
    """The files, in the order in which they are read."""
    columns: tuple[str, ...]
    """Columns besides SMILES and names."""
    remarks: list[str]
    """Remarks on sheets and hidden rows, for people."""

    def __init__(self, settings: PrepareSettings) -> None:
        self._sheet = settings.sheet
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

    def digest(self) -> tuple[tuple[TableFile, ...], float]:
        """Read all bytes; return what the files are, and about how many rows they have."""
        records, counts = [], []
        for path in self.files:
            status, content, marks = path.stat(), hashlib.sha256(), 0
            mark = b"$$$$" if ".sdf" in path.suffixes else b"\n"
            with path.open("rb") as file:
                while piece := file.read(PIECE):
                    content.update(piece)
                    marks += piece.count(mark)
            records.append(
                TableFile(name=path.name, bytes=status.st_size, modified=status.st_mtime, sha256=content.hexdigest())
            )
            counts.append(_count_rows(path, marks))
        return tuple(records), sum(counts)

    def check_unchanged(self, records: Sequence[TableFile]) -> None:
        """Refuse a table that was changed since `digest`.

        Raises:
            ValueError: if it was.
        """
        for path, record in zip(self.files, records, strict=True):
            status = path.stat()
            if (status.st_size, status.st_mtime) != (record.bytes, record.modified):
                raise ValueError(f"Expected {path} to stay as it was while it was read. It has changed. Start again.")

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Read all rows, `size` of them at a time.

        Raises:
            ValueError: if a table is damaged.
        """
        columns = [self.smiles, *filter(None, [self.identifier])]
        keys = ("written", *["id"] * (self.identifier is not None), *map(own, self.columns))
        number, chunk = 0, Chunk(0, {name: [] for name in ("file", "row", *keys)})
        for index, path in enumerate(self.files):
            with open_table(path, self._sheet) as table:
                for row, cells in table.rows(columns, texts=self.columns):
                    _drain(table, index, chunk)
                    if len(chunk) == size:
                        yield chunk
                        number += 1
                        chunk = Chunk(number, {name: [] for name in ("file", "row", *keys)})
                    chunk.columns["file"].append(index)
                    chunk.columns["row"].append(row)
                    for key, cell in zip(keys, cells, strict=True):
                        chunk.columns[key].append(cell)
                _drain(table, index, chunk)
        if len(chunk) or chunk.problems:
            yield chunk


def _files_of(path: Path) -> tuple[Path, ...]:
    if (path / MANIFEST).is_file():
        raise ValueError(f"Expected a table, or a folder of tables. {path} is a prepared pool already.")
    if not path.is_dir():
        return (path,)
    files = tuple(sorted(entry for entry in path.iterdir() if entry.is_file() and KINDS.fullmatch(entry.name)))
    if not files:
        raise FileNotFoundError(f"Expected a folder with tables: .csv, .smi, .parquet and so on. {path} has none.")
    return files


def _drain(table: Table, index: int, chunk: Chunk) -> None:
    if table.problems:
        chunk.problems += [(index, number, "", text[:LONGEST]) for number, text in table.problems]
        table.problems.clear()


def _count_rows(path: Path, marks: int) -> float:
    """Return about how many rows a file has, given how often the mark at the end of a row occurs in its bytes.

    Of a workbook or a packed file it is not known, and too small.
    """
    if path.name.lower().endswith(".parquet"):
        from pyarrow.parquet import read_metadata

        return float(read_metadata(path).num_rows)
    return float(marks)
