"""Open a prepared pool, and read its molecules in blocks, by place or by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.descriptors import Moments
from graph_bandit_campaign.pool.block import Block, Cells
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.pool.prepared.manifest import DROPPED, MANIFEST, Manifest, part_path, read_json, software
from graph_bandit_campaign.pool.prepared.part import KNOWN, columns_of, from_arrow, own
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.extras import require
from graph_bandit_env.pools import may_be_form, unread_graphs
from graph_bandit_env.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa

BAD_ROWS = "bad_rows.csv"
Place = tuple[int, int]
"""Number of a part, and row in the part."""


class PreparedPool:
    """A pool of molecules of any size, in a folder written by `graph-bandit prepare`.

    Only the manifest stays in memory. The pool can be sent to other processes with access to the folder.

    Args:
        folder: the folder.
        manifest: its manifest.
    """

    manifest: Manifest
    """The inputs of the pool, and the contents of its parts."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest

    @classmethod
    def open(cls, folder: str | Path) -> PreparedPool:
        """Open a prepared pool.

        Args:
            folder: the folder.

        Raises:
            FileNotFoundError: if the folder has no prepared pool.
            ValueError: if it is unfinished, damaged, or was prepared with another version of RDKit.
            ImportError: if pyarrow is not installed.
        """
        folder = Path(folder)
        if not (folder / MANIFEST).is_file():
            text = f"Expected {folder} to be a prepared pool. It has no {MANIFEST}."
            raise FileNotFoundError(f"{text} `graph-bandit prepare` makes one, or continues one that it began.")
        for module in ("pyarrow", "rdkit"):
            require(module, "Reading a prepared pool")
        manifest = read_json(folder / MANIFEST, Manifest)
        made, now = manifest.question.versions["rdkit"], software()["rdkit"]
        if made != now:
            raise ValueError(f"Expected {folder} to be of RDKit {now}. It is of {made}. Prepare the pool again.")
        return cls(folder, manifest)

    def __len__(self) -> int:
        return self.manifest.molecules

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the other columns of the table."""
        return self.manifest.question.columns

    @cached_property
    def moments(self) -> dict[str, Moments]:
        """Return the moments of the numbers of each descriptor over the molecules."""
        return {name: Moments.from_dict(lists) for name, lists in self.manifest.moments.items()}

    @property
    def bad_rows(self) -> Path:
        """Return the path of the list of rows that were left out."""
        return self.folder / BAD_ROWS

    def blocks(
        self,
        descriptors: Sequence[str] | None = None,
        columns: Sequence[str] = (),
        parts: Iterable[int] | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> Iterator[Block]:
        """Read molecules in order, a few thousand at a time. Blocks do not depend on the size of parts.

        Args:
            descriptors: names of descriptors to read, or None for all in the pool.
            columns: other columns of the table to read.
            parts: numbers of the parts to read, or None for all.
            rows: rows of these parts, or None for those with molecules that count.

        Raises:
            ValueError, OSError: if a part is damaged or missing.
        """
        from pyarrow import default_memory_pool
        from pyarrow.parquet import ParquetFile

        question = self.manifest.question
        names = question.descriptors if descriptors is None else tuple(descriptors)
        columns = [name for name in dict.fromkeys(columns) if name in question.columns]
        wanted = [*KNOWN, *map(own, columns), *(column for name in names for column in columns_of(name))]
        dropped = self._dropped("kept_part", "kept", "line", columns=columns)
        for number in range(self.manifest.parts) if parts is None else parts:
            begin, gone = 0, dropped.filter(np.equal(dropped["part"], number))["row"].to_numpy()
            repeated = dropped.filter(np.equal(dropped["kept_part"], number))
            with ParquetFile(part_path(self.folder, number)) as file:
                for group in range(file.num_row_groups):
                    every = np.arange(begin, begin := begin + file.metadata.row_group(group).num_rows)
                    kept = np.setdiff1d(every, gone) if rows is None else np.intersect1d(every, rows)
                    if len(kept):
                        table = file.read_row_group(group, wanted, use_threads=False).take(kept - every[0])
                        cells = self._cells(table, kept, columns, repeated)
                        ids, smiles = self._named(table)
                        written = table["written"].to_pylist()
                        places = np.stack([np.full(len(kept), number), kept], axis=1)
                        yield Block(places, ids, written, smiles, from_arrow(table, names, question), cells)
            default_memory_pool().release_unused()  # otherwise pyarrow keeps about as much memory as the molecules take

    def names(self) -> Iterator[tuple[int, NDArray[np.int64], list[str], list[str]]]:
        """Yield the number of each part, its rows that count, and their names and SMILES.

        Raises:
            ValueError, OSError: if a part is damaged or missing.
        """
        from pyarrow.parquet import ParquetFile

        dropped = self._dropped()
        for number in range(self.manifest.parts):
            with ParquetFile(part_path(self.folder, number)) as file:
                table = file.read(["id", "smiles"], use_threads=False)
            gone = dropped.filter(np.equal(dropped["part"], number))["row"].to_numpy()
            rows = np.setdiff1d(np.arange(len(table)), gone)
            yield number, rows, *self._named(table.take(rows))

    def _dropped(self, *wanted: str, columns: Sequence[str] = ()) -> pa.Table:
        """Return part and row of the rows that do not count, with other columns of their file and of the table."""
        from pyarrow.parquet import ParquetFile

        every = self.manifest.question.columns
        names = {f"c{every.index(name)}": own(name) for name in columns}
        with ParquetFile(self.folder / DROPPED) as file:
            table = file.read(["part", "row", *wanted, *names], use_threads=False)
        return table.rename_columns([names.get(name, name) for name in table.column_names])

    def _named(self, table: pa.Table) -> tuple[list[str], list[str]]:
        """Return name and SMILES of each row of a table with the columns of a part."""
        shared, smiles = {*self.manifest.shared}, table["smiles"].to_pylist()
        named = zip(table["id"].to_pylist(), smiles, strict=True)
        return [text if not name or name in shared else name for name, text in named], smiles

    def _cells(self, table: pa.Table, rows: NDArray[np.int64], columns: Sequence[str], repeated: pa.Table) -> Cells:
        """Return the cells of some rows and their replicate rows, by molecule and place."""
        repeated, question = repeated.filter(np.isin(repeated["kept"], rows)), self.manifest.question
        owners = np.concatenate([np.arange(len(rows)), np.searchsorted(rows, repeated["kept"])])
        order = np.argsort(owners, kind="stable")
        texts = {}
        for name in columns:
            every = table[own(name)].to_pylist() + repeated[own(name)].to_pylist()
            texts[name] = [every[k] for k in order.tolist()]
        lines = np.concatenate([table["row"], repeated["line"]])[order]
        header = Table(Path(question.name), (question.smiles,), (), question.unit, decimal=question.decimal)
        return Cells(owners[order], lines, texts, header)

    def __iter__(self) -> Iterator[Block]:
        return self.blocks()

    def take(self, places: ArrayLike, descriptors: Sequence[str] | None = None, columns: Sequence[str] = ()) -> Block:
        """Return the molecules at some places, in this order.

        Args:
            places: `(n, 2)`, at least one. Part and row of each molecule, as in blocks and `find`.
            descriptors: as in `blocks`.
            columns: as in `blocks`.

        Raises:
            ValueError: if a part is damaged.
            KeyError: if a place has no row.
        """
        where = np.asarray(places, np.int64)
        wanted = {number: where[where[:, 0] == number, 1] for number in np.unique(where[:, 0]).tolist()}
        blocks = (self.blocks(descriptors, columns, [number], rows) for number, rows in wanted.items())
        joined = Block.join([*chain.from_iterable(blocks)])
        index_of = {place: k for k, place in enumerate(map(tuple, joined.places.tolist()))}
        return joined.take([index_of[place] for place in map(tuple, where.tolist())])

    def find(self, ids: Sequence[str] = (), smiles: Sequence[str] = ()) -> tuple[dict[str, Place], dict[str, Place]]:
        """Find molecules by name or by canonical SMILES, in one pass over these columns.

        Args:
            ids: names, including those of replicate rows.
            smiles: canonical SMILES.

        Returns:
            The places of the names in the pool, and those of the SMILES.

        Raises:
            ValueError: if a part is damaged.
        """
        wanted_ids, wanted_smiles = {*ids}, {*smiles}
        by_id, by_smiles = dict[str, Place](), dict[str, Place]()
        if not ids and not smiles:
            return by_id, by_smiles
        for part, rows, names, texts in self.names():
            for row, name, text in zip(rows.tolist(), names, texts, strict=True):
                by_id |= {name: (part, row)} if name in wanted_ids else {}
                by_smiles |= {text: (part, row)} if text in wanted_smiles else {}
        by_id |= {alias: place for alias, place, _ in self._aliases() if alias in wanted_ids}
        return by_id, by_smiles

    def _aliases(self) -> Iterator[tuple[str, Place, str]]:
        """Yield the names of replicate rows, the places of their molecules, and their SMILES as in the table."""
        table = self._dropped("kept_part", "kept", "alias", "written")
        table = table.filter(table["alias"].is_valid())
        for part, row, alias, written in zip(*(column.to_pylist() for column in table.columns[2:]), strict=True):
            yield alias, (part, row), written

    def forms(self, places: ArrayLike) -> list[list[tuple[str, str]]]:
        """Return names and canonical SMILES of the replicate rows of some molecules.

        Args:
            places: `(n, 2)`. Part and row of each molecule.
        """
        rows = {(part, row): list[tuple[str, str]]() for part, row in np.asarray(places, np.int64).tolist()}
        for alias, place, written in self._aliases():
            if place in rows:
                rows[place].append((alias, canonical_smiles(written, self.manifest.question.most_atoms)))
        return list(rows.values())

    def load(self, columns: Sequence[str] = (), skip_bad: bool = False) -> DescribedMolecules:
        """Read all molecules into memory, as `from_smiles_csv` would read the table, with their descriptors.

        Args:
            columns: columns of numbers to read.
            skip_bad: if True, an invalid number counts as unknown.

        Raises:
            ValueError: if a part or the list of bad rows is damaged, or `skip_bad` is False and a cell of these columns
                is not a number.
        """
        block = Block.join(list(self.blocks(columns=columns)))
        return self.molecules(block, columns, skip_bad, self.aliases(block))

    def molecules(
        self, block: Block, columns: Sequence[str], skip_bad: bool, aliases: Mapping[str, str]
    ) -> DescribedMolecules:
        """Return the molecules of a block with their descriptors. Atoms and bonds are read on demand.

        Args:
            block: molecules of the pool, with all descriptors and these columns.
            columns: as in `load`.
            skip_bad: as in `load`.
            aliases: names of replicate rows, with the ids of their molecules.

        Raises:
            ValueError: as in `load`.
        """
        made, written = self.manifest.question, dict[str, str]()
        for name, text, smiles in zip(block.ids, block.written, block.smiles, strict=True):
            if made.salts == "merge" and may_be_form(text):
                form = canonical_smiles(text, made.most_atoms)
                written |= {name: form} if form != smiles else {}
        plain = MoleculeSet(
            unread_graphs(block.written, made.salts),
            block.smiles,
            block.ids,
            skipped=self.read_bad_rows(),
            merged=self.manifest.merged,
            aliases=aliases,
            columns=block.numbers(columns, skip_bad),
            column_names=columns,
            salts=made.salts,
            written=written,
        )
        return DescribedMolecules.of(plain, block.descriptors)

    def read_bad_rows(self) -> list[tuple[int, str]]:
        """Return row and problem of each row that was left out."""
        table = self._dropped("line", "problem")
        table = table.filter(table["problem"].is_valid())
        return sorted(zip(table["line"].to_pylist(), table["problem"].to_pylist(), strict=True))

    def digest(self, columns: Sequence[str]) -> str:
        """Return a digest of the cells of some columns, or an empty text without columns.

        Raises:
            ValueError: if a part is damaged.
        """
        content = hashlib.sha256()
        for block in self.blocks((), columns) if columns else ():
            content.update(json.dumps([block.cells.texts[name] for name in columns]).encode())
        return content.hexdigest()[:32] if columns else ""

    def aliases(self, block: Block) -> dict[str, str]:
        """Map the names of replicate rows to the names in a block of all molecules."""
        id_of = dict(zip(map(tuple, block.places.tolist()), block.ids, strict=True))
        return {alias: id_of[place] for alias, place, _ in self._aliases()}
