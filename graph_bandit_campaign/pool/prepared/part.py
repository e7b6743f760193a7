"""The parts of a prepared pool: their columns, and how they are read block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents.traits import NUMBERS, Counts, Traits
from graph_bandit_campaign.pool.block import Block, Cells
from graph_bandit_campaign.pool.prepared.manifest import DROPPED, MERGED, Manifest, part_path, sha256_of
from graph_bandit_env.tables import EntryColumns, Table, split_entry, write_entry

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

KNOWN = ("row", "id", "written", "smiles")
"""Columns of every part: row as people count, id (null where the table has none), SMILES as the table has it, and
canonical SMILES."""
REPEATED = ("part", "kept", "alias", "line", "written")
"""Columns of the rows that repeat molecules: part and row of the molecule, its other name, row as people count, and
SMILES as the table has it."""
REMEDY = "Copy it from a backup, or delete the folder and prepare the pool again."


def own(name: str) -> str:
    """Return the column of a part that holds a column of the table."""
    return f"column:{name}"


def columns_of(trait: str) -> tuple[str, ...]:
    """Return the columns of a trait."""
    return (trait,) if trait in NUMBERS else (f"{trait}_bins", f"{trait}_counts")


def to_arrow(traits: Traits) -> dict[str, pa.Array]:
    """Return the traits of K molecules as columns of K rows."""
    import pyarrow as pa

    columns = {}
    for name, counts in traits.counts.items():
        offsets = pa.array(counts.offsets.astype(np.int32))
        for column, entries in zip(columns_of(name), (counts.bins, counts.counts), strict=True):
            columns[column] = pa.ListArray.from_arrays(offsets, pa.array(entries, pa.uint16()))
    for trait, numbers in traits.numbers.items():
        flat = pa.array(numbers.ravel(), pa.float32())
        columns[trait] = pa.FixedSizeListArray.from_arrays(flat, numbers.shape[1])
    return columns


class PreparedPart:
    """A part of a prepared pool.

    Args:
        folder: folder of the pool.
        manifest: manifest of the pool.
        number: number of the part, from 0.
    """

    def __init__(self, folder: Path, manifest: Manifest, number: int) -> None:
        self.number, self._folder, self._manifest = number, folder, manifest
        self.path = part_path(folder, number)

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
            rows: rows of the file to read; None: those with molecules that count.

        Raises:
            ValueError: if the file is damaged or missing.
        """
        question = self._manifest.question
        names = question.traits if traits is None else tuple(traits)
        columns = [name for name in dict.fromkeys((*columns, *self._manifest.entry)) if name in question.columns]
        wanted = [*KNOWN, *map(own, columns), *(column for name in names for column in columns_of(name))]
        more, dropped = self.aliases() if columns else None, self._dropped()
        with self._open() as file:
            begin = 0
            for group in range(file.num_row_groups):
                end = begin + file.metadata.row_group(group).num_rows
                if rows is None or ((begin <= rows) & (rows < end)).any():
                    table = file.read_row_group(group, wanted, use_threads=False)
                    every = np.arange(begin, begin + len(table))
                    kept = np.setdiff1d(every, dropped) if rows is None else np.intersect1d(every, rows)
                    if len(kept):
                        yield self._block(table.take(kept - begin), kept, names, columns, more)
                begin = end

    def names(self) -> tuple[NDArray[np.int64], list[str], list[str]]:
        """Return the rows that count, and name and text of the entry in each.

        Raises:
            ValueError: if the file is damaged or missing.
        """
        with self._open() as file:
            table = file.read(["id", "smiles", *map(own, self._manifest.entry)], use_threads=False)
        rows = np.setdiff1d(np.arange(len(table)), self._dropped())
        return rows, *self._named(table.take(rows))

    def aliases(self) -> pa.Table:
        """Return the rows that repeat molecules of this part, with the columns `REPEATED` and those of the table.

        Raises:
            ValueError: if their file is damaged or missing.
        """
        return self._rows_of(MERGED).rename_columns([*REPEATED, *map(own, self._manifest.question.columns)])

    def _dropped(self) -> NDArray[np.int64]:
        rows: NDArray[np.int64] = self._rows_of(DROPPED)["row"].to_numpy()
        return rows

    def _rows_of(self, name: str) -> pa.Table:
        """Return the rows of this part in a file of the pool."""
        import pyarrow.compute as pc
        from pyarrow.parquet import ParquetFile

        with _refuse_damage(self._folder / name), ParquetFile(self._folder / name) as file:
            table = file.read(use_threads=False)
            return table.filter(pc.equal(table["part"], self.number))

    @contextmanager
    def _open(self) -> Iterator[ParquetFile]:
        from pyarrow import default_memory_pool
        from pyarrow.parquet import ParquetFile

        with _refuse_damage(self.path):
            if self._digest != self._manifest.parts[self.number]:  # pyarrow may end the process if metadata are damaged
                raise OSError("a damaged file, or that of another part")
            with ParquetFile(self.path) as file:
                _refuse_repeated_texts(file)
                yield file
            default_memory_pool().release_unused()  # else it keeps about as much as the molecules take

    @cached_property
    def _digest(self) -> str:
        return sha256_of(self.path)

    def _named(self, table: pa.Table) -> tuple[list[str], list[str]]:
        """Return name and text of the entry in each row of a table that has the columns of a part."""
        entry, shared, smiles = tuple(self._manifest.entry), {*self._manifest.shared}, table["smiles"].to_pylist()
        if entry:
            cells = zip(*(table[own(name)].to_pylist() for name in entry), strict=True)
            smiles = [
                write_entry(text, dict(zip(entry, row, strict=True))) for text, row in zip(smiles, cells, strict=True)
            ]
        named = zip(table["id"].to_pylist(), smiles, strict=True)
        return [text if not name or name in shared else name for name, text in named], smiles

    def _block(
        self,
        table: pa.Table,
        rows: NDArray[np.int64],
        traits: Sequence[str],
        columns: Sequence[str],
        more: pa.Table | None,
    ) -> Block:
        """Return the molecules in some rows; their cells, and those of rows that repeat them, by molecule and place."""
        ids, smiles = self._named(table)
        written = [
            f"{text}{split_entry(entry)[1]}" for text, entry in zip(table["written"].to_pylist(), smiles, strict=True)
        ]
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
        header = Table(Path(question.file.name), (question.smiles,), (), question.unit, decimal=question.decimal)
        places = np.stack([np.full(len(rows), self.number), rows], axis=1)
        cells = Cells(owners, lines, texts, header, EntryColumns(self._manifest.entry))
        return Block(places, ids, written, smiles, self._traits(table, traits), cells)

    def _traits(self, table: pa.Table, names: Sequence[str]) -> Traits:
        """Return the traits of the rows of a table, as copies: a view would keep the whole table in memory."""
        counts, numbers = dict[Any, Counts](), {}
        for name in names:
            columns = [table[column].combine_chunks() for column in columns_of(name)]
            if name in NUMBERS:
                numbers[name] = columns[0].flatten().to_numpy().reshape(len(table), -1).copy()
                continue
            offsets = columns[0].offsets.to_numpy().astype(np.int64)
            inside = slice(offsets[0], offsets[-1])
            entries = [column.values.to_numpy()[inside].copy() for column in columns]
            counts[name] = Counts(offsets - offsets[0], *entries)
        return Traits(len(table), counts, numbers, self._manifest.question.stereo, self._manifest.question.left_out)


def _refuse_repeated_texts(file: ParquetFile) -> None:
    """Refuse texts that are stored once for many rows: `prepare` never stores them so, and they may take gigabytes.

    Raises:
        OSError: if there is one.
    """
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    for column in (group.column(number) for group in groups for number in range(group.num_columns)):
        if column.physical_type == "BYTE_ARRAY" and any("DICTIONARY" in encoding for encoding in column.encodings):
            raise OSError(f"column {column.path_in_schema} with repeated texts")


@contextmanager
def _refuse_damage(path: Path) -> Iterator[None]:
    """Name the file in errors of pyarrow."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, KeyError, IndexError) as error:
        raise ValueError(f"Expected {path} as `graph-bandit prepare` wrote it. Got: {error}. {REMEDY}") from error
