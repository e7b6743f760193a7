"""Open a prepared pool, and read its molecules block by block, by place or by name."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from agents.traits import Moments
from graph_bandit_campaign.pool.block import Block
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.pool.prepared.columns import own
from graph_bandit_campaign.pool.prepared.manifest import (
    BAD_ROWS,
    FORMAT,
    MANIFEST,
    QUESTION,
    Manifest,
    read_json,
)
from graph_bandit_campaign.pool.prepared.part import REMEDY, PreparedPart
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.extras import require
from graph_bandit_env.pools import may_be_form, unread_graphs
from graph_bandit_env.tables import EntryColumns

if TYPE_CHECKING:
    import pyarrow as pa

Place = tuple[int, int]
"""Number of a part, and the row in it."""


class PreparedPool:
    """A pool of molecules of any size, in a folder that `graph-bandit prepare` wrote.

    Nothing of it stays in memory but the manifest. It can be sent to other processes that see the same folder.

    Args:
        folder: the folder.
        manifest: its manifest.
    """

    manifest: Manifest
    """What the pool was made from, and what its parts hold."""
    parts: tuple[PreparedPart, ...]
    """Parts, in the order of the pool."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest
        parts, dropped, merged = list[PreparedPart](), 0, 0  # row groups of the parts before
        for number, record in enumerate(manifest.parts):
            parts.append(PreparedPart(folder, manifest, number, (dropped, merged)))
            dropped, merged = dropped + bool(record.dropped), merged + bool(record.duplicates)
        self.parts = tuple(parts)

    @classmethod
    def open(cls, folder: str | Path) -> PreparedPool:
        """Open a prepared pool.

        Args:
            folder: the folder.

        Raises:
            FileNotFoundError: if there is no prepared pool.
            ValueError: if it is not finished, is damaged, lacks a part, or was prepared with another version of RDKit.
            ImportError: if pyarrow is not installed.
        """
        folder = Path(folder)
        if not (folder / MANIFEST).is_file():
            if (folder / QUESTION).is_file():
                raise ValueError(
                    f"Expected {folder} to be finished. Give the command `graph-bandit prepare` that began it again."
                )
            raise FileNotFoundError(
                f"Expected {folder} to be a prepared pool. It has no {MANIFEST}. `graph-bandit prepare` makes one."
            )
        for module in ("pyarrow", "rdkit"):
            require(module, "Reading a prepared pool")
        manifest = read_json(folder / MANIFEST, Manifest)
        if manifest.question.format != FORMAT:
            raise ValueError(
                f"Expected a prepared pool of format {FORMAT}. {folder} has format {manifest.question.format}. Prepare "
                "it again."
            )
        before, now = manifest.question.versions["rdkit"], version("rdkit")
        if before != now:
            raise ValueError(
                f"Expected {folder} to be prepared with RDKit {now}, which is installed. It was prepared with "
                f"{before}, whose fingerprints may differ. Install that version, or prepare the pool again."
            )
        pool = cls(folder, manifest)
        for part in pool.parts:
            size = part.path.stat().st_size if part.path.is_file() else None
            if size != part.record.bytes:
                got = "There is no such file" if size is None else f"It has {size:,}"
                raise ValueError(f"Expected part {part.path} of {part.record.bytes:,} bytes. {got}. {REMEDY}")
        return pool

    def __len__(self) -> int:
        return self.manifest.molecules

    def __repr__(self) -> str:
        return f"PreparedPool({str(self.folder)!r}, {len(self):,} molecules, {len(self.parts)} parts)"

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the other columns of the table."""
        return self.manifest.question.columns

    @cached_property
    def entry(self) -> EntryColumns:
        """Return the columns that are part of what an entry is."""
        return EntryColumns(self.manifest.entry)

    @cached_property
    def moments(self) -> dict[str, Moments]:
        """Return the moments of the numbers of each trait over the molecules."""
        return {name: Moments.from_dict(lists) for name, lists in self.manifest.moments.items()}

    @property
    def bad_rows(self) -> Path:
        """Return the path of the list of rows that were left out."""
        return self.folder / BAD_ROWS

    def blocks(self, traits: Sequence[str] | None = None, columns: Sequence[str] = ()) -> Iterator[Block]:
        """Read all molecules in their order, some thousand at a time. Blocks do not depend on the size of parts.

        Args:
            traits: names of traits to read; None: all that the pool has.
            columns: other columns of the table to read.

        Raises:
            ValueError: if a part is damaged, or the pool has no such trait or column.
        """
        self._check(traits, columns)
        for part in self.parts:
            yield from part.blocks(traits, columns)

    def __iter__(self) -> Iterator[Block]:
        return self.blocks()

    def take(self, places: ArrayLike, traits: Sequence[str] | None = None, columns: Sequence[str] = ()) -> Block:
        """Return the molecules at some places, in this order.

        Args:
            places: `(n, 2)`, at least one. Part and row of each molecule, as blocks and `find` have them.
            traits: as in `blocks`.
            columns: as in `blocks`.

        Raises:
            ValueError: if a part is damaged, or there is no molecule at a place.
        """
        self._check(traits, columns)
        where = np.asarray(places, np.int64)
        numbers = np.unique(where[:, 0])
        blocks = [self.parts[k].take(where[where[:, 0] == k, 1].tolist(), traits, columns) for k in numbers.tolist()]
        order = np.argsort(where[:, 0], kind="stable")
        return Block.join(blocks).take(np.argsort(order, kind="stable"))

    def find(self, ids: Sequence[str] = (), smiles: Sequence[str] = ()) -> tuple[dict[str, Place], dict[str, Place]]:
        """Find molecules by name or by canonical SMILES, in one pass over those columns.

        Args:
            ids: names; those of rows that were merged into another one count, too.
            smiles: canonical SMILES.

        Returns:
            The places of the names that the pool has, and those of the SMILES.

        Raises:
            ValueError: if a part is damaged.
        """
        by_id, by_smiles = dict[str, Place](), dict[str, Place]()
        if ids or smiles:
            for part in self.parts:
                _find_in(part, ids, smiles, by_id, by_smiles)
        return by_id, by_smiles

    def forms(self, places: ArrayLike) -> list[list[tuple[str, str]]]:
        """Return names and canonical SMILES of the rows that repeat molecules, for some molecules.

        Args:
            places: `(n, 2)`. Part and row of each molecule.

        Raises:
            ValueError: if a part is damaged.
        """
        rows = {(part, row): list[tuple[str, str]]() for part, row in np.asarray(places, np.int64).tolist()}
        most_atoms = self.manifest.question.most_atoms
        for number in sorted({part for part, _ in rows}):
            if not self.parts[number].record.duplicates:
                continue
            repeated = self.parts[number].aliases().select(["kept", "part", "row", "alias"]).to_pylist()
            for row in repeated:
                if row["alias"] is not None and (number, row["kept"]) in rows:
                    written = self.parts[row["part"]].written(row["row"])
                    rows[number, row["kept"]].append((row["alias"], canonical_smiles(written, most_atoms)))
        return list(rows.values())

    def load(self, columns: Sequence[str] = (), skip_bad: bool = False) -> DescribedMolecules:
        """Read all molecules into memory, as `from_smiles_csv` would read the table, with their traits.

        Args:
            columns: columns of numbers to read.
            skip_bad: whether a cell that is not a number counts as not known.

        Raises:
            ValueError: if a part or the list of bad rows is damaged, or a cell of these columns is not a number, and
                `skip_bad` is False.
        """
        block = Block.join(list(self.blocks(columns=columns)))
        return self.molecules(block, columns, skip_bad, self.aliases(block))

    def molecules(
        self, block: Block, columns: Sequence[str], skip_bad: bool, aliases: Mapping[str, str]
    ) -> DescribedMolecules:
        """Return the molecules of a block with their traits; atoms and bonds are read when somebody asks for them.

        Args:
            block: molecules of the pool, with all traits and these columns.
            columns: as in `load`.
            skip_bad: as in `load`.
            aliases: names of other rows, and those that they stand for.

        Raises:
            ValueError: as `load`.
        """
        made = self.manifest.question
        forms = {
            name: canonical_smiles(text, made.most_atoms)
            for name, text in zip(block.ids, block.written, strict=True)
            if made.salts == "merge" and may_be_form(text)
        }
        plain = MoleculeSet(
            unread_graphs(block.written, made.salts),
            block.smiles,
            block.ids,
            skipped=[(row, problem) for _, row, problem in self.read_bad_rows()],
            merged=self.manifest.merged,
            aliases=aliases,
            columns=block.numbers(columns, skip_bad),
            column_names=columns,
            salts=made.salts,
            written={
                name: forms[name]
                for name, text in zip(block.ids, block.smiles, strict=True)
                if forms.get(name, text) != text
            },
        )
        return DescribedMolecules.of(plain, block.traits)

    def read_bad_rows(self) -> list[tuple[str, int, str]]:
        """Return file, row and problem of each row that was left out.

        Raises:
            OSError: if their list is missing.
        """
        if not self.manifest.bad:
            return []
        with self.bad_rows.open(encoding="utf-8", newline="") as file:
            return [(name, int(row), problem) for name, row, _, problem in list(csv.reader(file))[1:]]

    def cells_of(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield the cells of columns of the table, part by part: of all molecules, then of rows that repeat them.

        Raises:
            ValueError: if a part is damaged, or the pool has no such column.
        """
        import pyarrow as pa

        self._check((), columns)
        names = [*map(own, columns)]
        for part in self.parts:
            repeated = [part.aliases().select(names)] if part.record.duplicates else []
            yield pa.concat_tables([part.read(names), *repeated])

    def digest(self, columns: Sequence[str]) -> str:
        """Return a digest of the cells of columns; an empty text for none.

        Raises:
            ValueError: as `cells_of`.
        """
        if not columns:
            return ""
        content = hashlib.sha256()
        for cells in self.cells_of(columns):
            content.update(json.dumps([column.to_pylist() for column in cells.columns]).encode())
        return content.hexdigest()[:32]

    def aliases(self, block: Block) -> dict[str, str]:
        """Return the other names of molecules, and the names in a block of all of them that these stand for."""
        begins, aliases = np.searchsorted(block.places[:, 0], np.arange(len(self.parts))), dict[str, str]()
        for part, begin in zip(self.parts, begins.tolist(), strict=True):
            if part.record.duplicates:
                repeated, rows = part.aliases(), part.kept_rows
                places = begin + np.searchsorted(rows, repeated["kept"].to_numpy())
                names = zip(repeated["alias"].to_pylist(), places.tolist(), strict=True)
                aliases |= {alias: block.ids[row] for alias, row in names if alias is not None}
        return aliases

    def _check(self, traits: Sequence[str] | None, columns: Sequence[str]) -> None:
        question, words = self.manifest.question, self.entry.columns_of_words
        columns = [name for name in columns if name not in words]  # these are read with their columns
        for given, names, word in ((traits or (), question.traits, "trait"), (columns, question.columns, "column")):
            for name in given:
                if name not in names:
                    raise ValueError(
                        f"Expected a {word} of the prepared pool {self.folder}: {', '.join(names) or 'it has none'}. "
                        f"Got `{name}`."
                    )


def _find_in(
    part: PreparedPart, ids: Sequence[str], smiles: Sequence[str], by_id: dict[str, Place], by_smiles: dict[str, Place]
) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    table, rows = part.names(), part.kept_rows
    for column, wanted, places in ((table["id"], ids, by_id), (table["smiles"], smiles, by_smiles)):
        if wanted:
            mask = pc.is_in(column, value_set=pa.array(wanted, pa.large_string())).to_numpy()
            for k in np.flatnonzero(mask).tolist():
                places[column[k].as_py()] = (part.number, int(rows[k]))
    if ids and part.record.duplicates:
        wanted_ids, repeated = set(ids), part.aliases()
        for alias, row in zip(repeated["alias"].to_pylist(), repeated["kept"].to_pylist(), strict=True):
            if alias in wanted_ids:
                by_id[alias] = (part.number, row)
