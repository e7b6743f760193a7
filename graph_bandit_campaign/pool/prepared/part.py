"""Read a part of a prepared pool, as a whole or block by block."""

from __future__ import annotations

import hashlib
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
    entries_of,
    from_arrow,
    own,
    traits_left_out,
)
from graph_bandit_campaign.pool.prepared.manifest import DROPPED, MERGED, Manifest, PartRecord
from graph_bandit_env.tables import EntryColumns, Table, split_entry

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile


class PreparedPart:
    """A part of a prepared pool.

    Args:
        folder: folder of the pool.
        manifest: manifest of the pool.
        number: number of the part, from 0.
        groups: numbers of its row groups in the files of dropped and of merged rows, if it has any there.
    """

    def __init__(self, folder: Path, manifest: Manifest, number: int, groups: tuple[int, int]) -> None:
        self.number, self._folder, self._manifest, self._groups = number, folder, manifest, groups

    def __len__(self) -> int:
        return self.record.molecules

    @property
    def record(self) -> PartRecord:
        """Return what the manifest says of it."""
        return self._manifest.parts[self.number]

    @property
    def path(self) -> Path:
        """Return the path of its file."""
        return self._folder / self.record.name

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return columns of the file for all molecules that count; None: all of them.

        Raises:
            ValueError: if the file is damaged or missing.
        """
        table = self.read_all(columns)
        return table.take(self.kept_rows) if self.record.dropped else table

    def read_all(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return columns of the file for all its molecules, also for those that do not count; None: all columns.

        Raises:
            ValueError: if the file is damaged or missing.
        """
        with self._open() as file:
            names = list(file.schema_arrow.names if columns is None else columns)
            return file.read(names, use_threads=False).select(names)

    def blocks(self, traits: Sequence[str] | None = None, columns: Sequence[str] = ()) -> Iterator[Block]:
        """Read the part block by block. Blocks do not depend on the size of parts.

        Args:
            traits: names of traits to read; None: all that the pool has.
            columns: other columns of the table to read.

        Raises:
            ValueError: if the file is damaged or missing.
        """
        more, kept = self._merged(columns), self.kept_rows
        with self._open() as file:
            begin = 0
            for group in range(file.num_row_groups):
                end = begin + file.metadata.row_group(group).num_rows
                inside = kept[np.searchsorted(kept, begin) : np.searchsorted(kept, end)]
                if len(inside):
                    yield self._block(file, group, begin, inside, traits, columns, more)
                begin = end

    def take(self, rows: Sequence[int], traits: Sequence[str] | None = None, columns: Sequence[str] = ()) -> Block:
        """Return the molecules in these rows of the file, in this order; at least one row.

        Raises:
            ValueError: if the file is damaged or missing, or there is no molecule that counts in a row.
        """
        wanted = np.unique(rows)
        wrong = np.setdiff1d(wanted, self.kept_rows)
        if len(wrong):
            raise ValueError(f"Expected rows of {self.path.name} with molecules that count. Got row {wrong[0]}.")
        more, blocks, begin = self._merged(columns), [], 0
        with self._open() as file:
            for group in range(file.num_row_groups):
                end = begin + file.metadata.row_group(group).num_rows
                inside = wanted[np.searchsorted(wanted, begin) : np.searchsorted(wanted, end)]
                if len(inside):
                    blocks.append(self._block(file, group, begin, inside, traits, columns, more))
                begin = end
        return Block.join(blocks).take(np.searchsorted(wanted, rows))

    def names(self) -> pa.Table:
        """Return the name `id` and the text `smiles` of the entry in each row that counts."""
        import pyarrow as pa
        import pyarrow.compute as pc

        entry = tuple(self._manifest.entry)
        table = self.read(["id", "smiles", *map(own, entry)])
        texts = pa.array(entries_of(table, entry), pa.large_string()) if entry else table["smiles"]
        shared = pc.is_in(table["id"], pa.array(self._manifest.shared, pa.large_string()))
        return pa.table({"id": pc.coalesce(pc.if_else(shared, None, table["id"]), texts), "smiles": texts})

    def written(self, row: int) -> str:
        """Return the SMILES in a row of the file as the table has it.

        Raises:
            ValueError: if the file is damaged or missing.
        """
        return str(self.read_all(["written"])["written"][row].as_py())

    def aliases(self) -> pa.Table:
        """Return the rows that repeat molecules of this part: `kept`, `part`, `row`, `alias`, and cells."""
        return self._row_group(MERGED, self._groups[1], self.record.duplicates)

    @property
    def kept_rows(self) -> NDArray[np.int64]:
        """Return the rows of the file with molecules that count, in increasing order."""
        every = np.arange(self.record.rows)
        if not self.record.dropped:
            return every
        dropped = self._row_group(DROPPED, self._groups[0], self.record.dropped)
        return np.setdiff1d(every, dropped["row"].to_numpy())

    def _merged(self, columns: Sequence[str]) -> pa.Table | None:
        return self.aliases() if (columns or self._manifest.entry) and self.record.duplicates else None

    def _row_group(self, name: str, group: int, count: int) -> pa.Table:
        """Return a row group of a file of the pool, which has `count` rows; there is none if `count` is 0."""
        from pyarrow.parquet import ParquetFile

        path = self._folder / name
        with _refuse_damage(path), ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read_row_group(group, use_threads=False) if count else file.schema_arrow.empty_table()
            if len(table) != count:
                raise OSError(f"{len(table)} rows of part {self.number} instead of {count}")
        return table

    @contextmanager
    def _open(self) -> Iterator[ParquetFile]:
        from pyarrow.parquet import ParquetFile

        with _refuse_damage(self.path):
            if self._digest != self.record.sha256:  # pyarrow may end the process where its own metadata are damaged
                raise OSError("a damaged file, or that of another part")
            with ParquetFile(self.path) as file:
                _refuse_repeated_texts(file)
                yield file

    @cached_property
    def _digest(self) -> str:
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

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
        table = file.read_row_group(group, wanted, use_threads=False).select(wanted)
        if len(rows) < len(table):
            table = table.take(rows - begin)
        smiles, written = entries_of(table, entry), table["written"].to_pylist()
        if entry:
            written = [f"{text}{split_entry(own_text)[1]}" for text, own_text in zip(written, smiles, strict=True)]
        given, shared = table["id"].to_pylist(), {*self._manifest.shared}
        ids = [text if not name or name in shared else name for name, text in zip(given, smiles, strict=True)]
        places = np.stack([np.full(len(rows), self.number), rows], axis=1)
        read = from_arrow(table, names, question.stereo, traits_left_out(question.traits))
        cells = self._cells(table, rows, columns, more)
        return Block(places, ids, written, smiles, read, cells)

    def _cells(self, table: pa.Table, rows: NDArray[np.int64], columns: Sequence[str], more: pa.Table | None) -> Cells:
        """Return the cells of molecules, and of rows that repeat them, by molecule and place."""
        owners, lines = np.arange(len(rows)), table["row"].to_numpy()
        texts = {name: table[own(name)].to_pylist() for name in columns}
        if more is not None:
            kept = more["kept"].to_numpy()
            repeats = np.flatnonzero(np.isin(kept, rows))
            if len(repeats):
                owners = np.concatenate([owners, np.searchsorted(rows, kept[repeats])])
                order = np.argsort(owners, kind="stable")
                owners, lines = owners[order], np.concatenate([lines, more["line"].to_numpy()[repeats]])[order]
                for name in columns:
                    every = texts[name] + more[own(name)].take(repeats).to_pylist()
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


@contextmanager
def _refuse_damage(path: Path) -> Iterator[None]:
    """Name the file in errors of pyarrow."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, KeyError, IndexError) as error:
        raise ValueError(f"Expected {path} as `graph-bandit prepare` wrote it. Got: {error}. {REMEDY}") from error
