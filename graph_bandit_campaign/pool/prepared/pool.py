"""Open a prepared pool, and read its molecules block by block, by place or by name."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from agents.traits import Moments
from graph_bandit_campaign.pool.block import Block
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.pool.prepared.manifest import BAD_ROWS, FORMAT, MANIFEST, Manifest, read_json, software
from graph_bandit_campaign.pool.prepared.part import REMEDY, PreparedPart
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.extras import require
from graph_bandit_env.pools import may_be_form, unread_graphs
from graph_bandit_env.tables import EntryColumns

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
        self.parts = tuple(PreparedPart(folder, manifest, number) for number in range(len(manifest.parts)))

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
            text = f"Expected {folder} to be a prepared pool. It has no {MANIFEST}."
            raise FileNotFoundError(f"{text} `graph-bandit prepare` makes one, or continues one that it began.")
        for module in ("pyarrow", "rdkit"):
            require(module, "Reading a prepared pool")
        manifest = read_json(folder / MANIFEST, Manifest)
        made, now = manifest.question, software()
        for name, here, there in (("format", FORMAT, made.format), ("RDKit", now["rdkit"], made.versions["rdkit"])):
            if here != there:
                raise ValueError(f"Expected {folder} to have {name} {here}. It has {there}. Prepare the pool again.")
        pool = cls(folder, manifest)
        if missing := next((part.path for part in pool.parts if not part.path.is_file()), None):
            raise ValueError(f"Expected part {missing}. There is no such file. {REMEDY}")
        return pool

    def __len__(self) -> int:
        return self.manifest.molecules

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
            ValueError: if a part is damaged.
        """
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
            ValueError: if a part is damaged.
            KeyError: if there is no row at a place.
        """
        where = np.asarray(places, np.int64)
        wanted = ((part, np.unique(where[where[:, 0] == part.number, 1])) for part in self.parts)
        blocks = [block for part, rows in wanted if len(rows) for block in part.blocks(traits, columns, rows)]
        joined = Block.join(blocks)
        index_of = {place: k for k, place in enumerate(map(tuple, joined.places.tolist()))}
        return joined.take([index_of[place] for place in map(tuple, where.tolist())])

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
        wanted_ids, wanted_smiles = {*ids}, {*smiles}
        by_id, by_smiles = dict[str, Place](), dict[str, Place]()
        for part in self.parts if ids or smiles else ():
            rows, names, texts = part.names()
            repeated = part.aliases()
            kept, aliases = (repeated[name].to_pylist() for name in ("kept", "alias"))
            named = chain(zip(names, rows.tolist(), strict=True), zip(aliases, kept, strict=True))
            by_id |= {name: (part.number, row) for name, row in named if name in wanted_ids}
            pairs = zip(texts, rows.tolist(), strict=True)
            by_smiles |= {text: (part.number, row) for text, row in pairs if text in wanted_smiles}
        return by_id, by_smiles

    def forms(self, places: ArrayLike) -> list[list[tuple[str, str]]]:
        """Return names and canonical SMILES of the rows that repeat molecules, for some molecules.

        Args:
            places: `(n, 2)`. Part and row of each molecule.

        Raises:
            ValueError: if a part is damaged.
        """
        rows = {(part, row): list[tuple[str, str]]() for part, row in np.asarray(places, np.int64).tolist()}
        for part in (self.parts[number] for number in sorted({number for number, _ in rows})):
            repeated = part.aliases().select(["kept", "alias", "written"])
            for row, alias, written in zip(*(column.to_pylist() for column in repeated.columns), strict=True):
                if alias is not None and (part.number, row) in rows:
                    form = canonical_smiles(written, self.manifest.question.most_atoms)
                    rows[part.number, row].append((alias, form))
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
        return DescribedMolecules.of(plain, block.traits)

    def read_bad_rows(self) -> list[tuple[int, str]]:
        """Return row and problem of each row that was left out.

        Raises:
            OSError: if their list is missing.
        """
        with self.bad_rows.open(encoding="utf-8", newline="") as file:
            return [(int(row), problem) for row, _, problem in list(csv.reader(file))[1:]]

    def digest(self, columns: Sequence[str]) -> str:
        """Return a digest of the cells of columns; an empty text for none.

        Raises:
            ValueError: if a part is damaged.
        """
        content = hashlib.sha256()
        for block in self.blocks((), columns) if columns else ():
            content.update(json.dumps([block.cells.texts[name] for name in columns]).encode())
        return content.hexdigest()[:32] if columns else ""

    def aliases(self, block: Block) -> dict[str, str]:
        """Return the other names of molecules, and the names in a block of all of them that these stand for."""
        id_of, aliases = dict(zip(map(tuple, block.places.tolist()), block.ids, strict=True)), dict[str, str]()
        for part in self.parts:
            repeated = part.aliases()
            pairs = zip(repeated["alias"].to_pylist(), repeated["kept"].to_pylist(), strict=True)
            aliases |= {alias: id_of[part.number, row] for alias, row in pairs if alias is not None}
        return aliases
