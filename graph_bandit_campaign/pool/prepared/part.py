"""Read a part of a prepared pool, as a whole or block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.pool.block import Block, Cells
from graph_bandit_campaign.pool.prepared.columns import (
    KNOWN,
    columns_of,
    from_arrow,
    own,
    traits_left_out,
)
from graph_bandit_campaign.pool.prepared.manifest import DROPPED, MERGED, Manifest, part_path, sha256_of
from graph_bandit_env.tables import EntryColumns, Table, split_entry, write_entry

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile


class PreparedPart:
    """A part of a prepared pool.

    Args:
        folder: folder of the pool.
        manifest: manifest of the pool.
        number: number of the part, from 0.
    """

    def __init__(self, folder: Path, manifest: Manifest, number: int) -> None:
        self.number, self._folder, self._manifest = number, folder, manifest
        self.record, self.path = manifest.parts[number], part_path(folder, number)

    def __len__(self) -> int:
        return self.record.rows - self.record.dropped

    def blocks(
        self,
        traits: Sequence[str] | None = None,
        columns: Sequence[str] = (),
        rows: NDArray[np.int64] | None = None,
    ) -> Iterator[Block]:
        """Read the part block by block. Blocks do not depend on the size of parts.

        Args:
            traits: names of traits to read; None: all that the pool has.
            columns: other columns of the table to read.
            rows: rows of the file to read, in increasing order; None: those with molecules that count.

        Raises:
            ValueError: if the file is damaged or missing.
        """
        rows = self.kept_rows if rows is None else rows
        more = self.aliases() if columns or self._manifest.entry else None
        with self._open() as file:
            begin = 0
            for group in range(file.num_row_groups):
                end = begin + file.metadata.row_group(group).num_rows
                inside = rows[np.searchsorted(rows, begin) : np.searchsorted(rows, end)]
                if len(inside):
                    yield self._block(file, group, begin, inside, traits, columns, more)
                begin = end

    def names(self) -> pa.Table:
        """Return number `row`, name `id` and text `smiles` of the entry in each row that counts.

        Raises:
            ValueError: if the file is damaged or missing.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        entry, rows = tuple(self._manifest.entry), self.kept_rows
        with self._open() as file:
            table = file.read(["id", "smiles", *map(own, entry)], use_threads=False).take(rows)
        texts = pa.array(_entries_of(table, entry), pa.large_string()) if entry else table["smiles"]
        shared = pc.is_in(table["id"], pa.array(self._manifest.shared, pa.large_string()))
        return pa.table({"row": rows, "id": pc.coalesce(pc.if_else(shared, None, table["id"]), texts), "smiles": texts})

    def aliases(self) -> pa.Table:
        """Return the rows that repeat molecules of this part: row `kept` of these, `alias`, `line`, and cells.

        Raises:
            ValueError: if their file is damaged or missing.
        """
        return self._rows_of(MERGED, self.record.duplicates)

    @property
    def kept_rows(self) -> NDArray[np.int64]:
        """Return the rows of the file with molecules that count, in increasing order."""
        dropped = self._rows_of(DROPPED, self.record.dropped)["row"].to_numpy()
        return np.delete(np.arange(self.record.rows), dropped)

    def _rows_of(self, name: str, count: int) -> pa.Table:
        """Return the rows of this part, of which there are `count`, in a file of the pool."""
        import pyarrow.compute as pc
        from pyarrow.parquet import ParquetFile

        path = self._folder / name
        with _refuse_damage(path), ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read(use_threads=False)
            table = table.filter(pc.equal(table["part"], self.number))
            if len(table) != count:
                raise OSError(f"{len(table)} rows of part {self.number} instead of {count}")
        return table

    @contextmanager
    def _open(self) -> Iterator[ParquetFile]:
        from pyarrow import default_memory_pool
        from pyarrow.parquet import ParquetFile

        with _refuse_damage(self.path):
            if self._digest != self.record.sha256:  # pyarrow may end the process where its own metadata are damaged
                raise OSError("a damaged file, or that of another part")
            with ParquetFile(self.path) as file:
                _refuse_repeated_texts(file)
                yield file
            default_memory_pool().release_unused()  # else it keeps about as much as the molecules take

    @cached_property
    def _digest(self) -> str:
        return sha256_of(self.path)

    def _block(
        self,
        file: ParquetFile,
        group: int,
        begin: int,
        rows: NDArray[np.int64],
        traits: Sequence[str] | None,
        columns: Sequence[str],
        more: pa.Table | None,
    ) -> Block:
        question, entry = self._manifest.question, tuple(self._manifest.entry)
        names = question.traits if traits is None else tuple(traits)
        columns = [name for name in dict.fromkeys((*columns, *entry)) if name in question.columns]
        wanted = [*KNOWN, *map(own, columns), *(column for name in names for column in columns_of(name))]
        table = file.read_row_group(group, wanted, use_threads=False)
        if len(rows) < len(table):
            table = table.take(rows - begin)
        smiles, written = _entries_of(table, entry), table["written"].to_pylist()
        if entry:
            written = [f"{text}{split_entry(own_text)[1]}" for text, own_text in zip(written, smiles, strict=True)]
        given, shared = table["id"].to_pylist(), {*self._manifest.shared}
        ids = [text if not name or name in shared else name for name, text in zip(given, smiles, strict=True)]
        places = np.stack([np.full(len(rows), self.number), rows], axis=1)
        read = from_arrow(table, names, question.stereo, traits_left_out(question.traits))
        return Block(places, ids, written, smiles, read, self._cells(table, rows, columns, more))

    def _cells(self, table: pa.Table, rows: NDArray[np.int64], columns: Sequence[str], more: pa.Table | None) -> Cells:
        """Return the cells of molecules, and of rows that repeat them, by molecule and place."""
        owners, lines = np.arange(len(rows)), table["row"].to_numpy()
        texts = {name: table[own(name)].to_pylist() for name in columns}
        if more is not None:
            more = more.filter(np.isin(more["kept"].to_numpy(), rows))
            owners = np.concatenate([owners, np.searchsorted(rows, more["kept"].to_numpy())])
            order = np.argsort(owners, kind="stable")
            owners, lines = owners[order], np.concatenate([lines, more["line"].to_numpy()])[order]
            for name in columns:
                every = texts[name] + more[own(name)].to_pylist()
                texts[name] = [every[k] for k in order.tolist()]
        question = self._manifest.question
        header = Table(Path(question.files[0].name), (question.smiles,), (), question.unit, decimal=question.decimal)
        return Cells(owners, lines, texts, header, EntryColumns(self._manifest.entry))


def _refuse_repeated_texts(file: ParquetFile) -> None:
    """Refuse texts that are stored once for many rows: `prepare` never stores them so, and they may take gigabytes.

    Raises:
        OSError: if there is one.
    """
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    for column in (group.column(number) for group in groups for number in range(group.num_columns)):
        if column.physical_type == "BYTE_ARRAY" and any("DICTIONARY" in encoding for encoding in column.encodings):
            raise OSError(f"column {column.path_in_schema} with repeated texts")


REMEDY = "Copy it from a backup, or delete the folder and prepare the pool again."


def _entries_of(table: pa.Table, entry: Sequence[str]) -> list[str]:
    """Return the text of the entry in each row of a table that has the columns of a part."""
    smiles: list[str] = table["smiles"].to_pylist()
    if not entry:
        return smiles
    cells = zip(*(table[own(name)].to_pylist() for name in entry), strict=True)
    return [write_entry(text, dict(zip(entry, row, strict=True))) for text, row in zip(smiles, cells, strict=True)]


@contextmanager
def _refuse_damage(path: Path) -> Iterator[None]:
    """Name the file in errors of pyarrow."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, KeyError, IndexError) as error:
        raise ValueError(f"Expected {path} as `graph-bandit prepare` wrote it. Got: {error}. {REMEDY}") from error
