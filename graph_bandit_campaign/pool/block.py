"""Hold molecules of a pool in memory: names, SMILES, descriptors, and cells of the table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agents.descriptors import Descriptors
from graph_bandit_campaign.text import listed, unshield
from graph_bandit_env.tables import Table

if TYPE_CHECKING:
    from rdkit.Chem import Mol

DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
OTHER_FORMS = "other_forms"
BETWEEN = " | "  # separates different texts of replicate rows
KEPT = 4096  # number of cached molecules, those of a block; each takes about 10 kB


@lru_cache(maxsize=KEPT)
def molecule_of(smiles: str) -> Mol:
    """Return the molecule of a canonical SMILES. It must not be changed."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        return Chem.MolFromSmiles(smiles)


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of other columns of the table. Rows of the same molecule are adjacent, its first row first."""

    owners: NDArray[np.int64]
    """`(R,)`. Index of the molecule of each row."""
    rows: NDArray[np.int64]
    """`(R,)`. Number of each row in the table, as users count."""
    texts: Mapping[str, Sequence[str]]
    """R texts by column, as in the table."""
    table: Table
    """Parses numbers as in this table. It has no rows."""

    def numbers(self, column: str, skip_bad: bool = False) -> NDArray[np.float64]:
        """Read the cells of a column as numbers, `(R,)`, with NaN for an empty cell, "n/a" and the like.

        Args:
            column: name of the column.
            skip_bad: if True, an invalid number counts as unknown.

        Raises:
            ValueError: if a cell is not a number, and `skip_bad` is False.
        """
        values, problems = np.full(len(self.owners), np.nan), []
        for k, text in enumerate(self.texts[column]):
            try:
                values[k] = self.table.side_value(text.strip(), column)
            except ValueError as error:
                problems.append(f"{self.table.where(int(self.rows[k]))}: {error}")
        if problems and not skip_bad:
            text = f"Expected numbers in column `{column}`. Got: {listed(problems)}"
            raise ValueError(f"{text} Correct these cells, or pass --skip-bad-rows to count them as not known.")
        return values

    def words(self, column: str) -> list[str]:
        """Return the R cells of a column of text, as the user wrote them."""
        return [unshield(text.strip()) for text in self.texts[column]]


@dataclass(frozen=True, eq=False)
class Block:
    """Molecules of a pool."""

    places: NDArray[np.int64]
    """`(K, 2)`. Part of each molecule, and row in the part."""
    ids: Sequence[str]
    """Names, or the canonical SMILES if the table has none."""
    written: Sequence[str]
    """SMILES as in the table."""
    smiles: Sequence[str]
    """Canonical SMILES."""
    descriptors: Descriptors
    """The requested descriptors."""
    cells: Cells
    """Cells of the requested columns, for the molecules and replicate rows."""

    def __len__(self) -> int:
        return len(self.places)

    def take(self, index: NDArray[np.integer] | Sequence[int]) -> Block:
        """Return the molecules with some indices, in this order."""
        index = np.asarray(index, np.int64)
        begins = np.searchsorted(self.cells.owners, np.arange(len(self) + 1)).tolist()
        spans = [range(begins[k], begins[k + 1]) for k in index.tolist()]
        owners, rows = np.repeat(np.arange(len(index)), [*map(len, spans)]), np.array([*chain(*spans)], np.int64)
        texts = {name: [cells[k] for k in rows.tolist()] for name, cells in self.cells.texts.items()}
        return Block(
            self.places[index],
            [self.ids[k] for k in index],
            [self.written[k] for k in index],
            [self.smiles[k] for k in index],
            self.descriptors.take(index),
            Cells(owners, self.cells.rows[rows], texts, self.cells.table),
        )

    def numbers(self, columns: Sequence[str], skip_bad: bool = False) -> NDArray[np.float64]:
        """Return columns of numbers, `(K, c)`: the mean of the known values of a molecule, or NaN without any.

        Args:
            columns: names of c columns.
            skip_bad: if True, an invalid number counts as unknown.

        Raises:
            ValueError: if a cell is not a number, and `skip_bad` is False.
        """
        result = np.full((len(self), len(columns)), np.nan)
        for k, column in enumerate(columns):
            values = self.cells.numbers(column, skip_bad)
            known = ~np.isnan(values)
            sums = np.bincount(self.cells.owners[known], values[known], len(self))
            counts = np.bincount(self.cells.owners[known], minlength=len(self))
            np.divide(sums, counts, out=result[:, k], where=counts > 0)
        return result

    @staticmethod
    def join(blocks: Sequence[Block]) -> Block:
        """Concatenate the molecules of one or more blocks."""
        first, starts = blocks[0], np.cumsum([0, *map(len, blocks)])
        owners = [block.cells.owners + start for block, start in zip(blocks, starts[:-1], strict=True)]
        texts = {name: [text for block in blocks for text in block.cells.texts[name]] for name in first.cells.texts}
        rows = np.concatenate([block.cells.rows for block in blocks])
        return Block(
            np.concatenate([block.places for block in blocks]),
            [name for block in blocks for name in block.ids],
            [text for block in blocks for text in block.written],
            [text for block in blocks for text in block.smiles],
            Descriptors.stack([block.descriptors for block in blocks]),
            Cells(np.concatenate(owners), rows, texts, first.cells.table),
        )


def other_columns(names: Iterable[str], shown: Iterable[str | None]) -> tuple[str, ...]:
    """Return the columns that are not shown elsewhere in the suggestions, ignoring case.

    Args:
        names: columns of the pool, except those of names and SMILES.
        shown: columns that are shown, and those of measured values, since values in the pool are not results.
    """
    taken = {name.casefold() for name in shown if name}
    return tuple(name for name in names if name and name.casefold() not in taken)


def list_forms(forms: Sequence[Sequence[tuple[str, str]]]) -> dict[str, list[str]]:
    """Return a column of the suggestions with names and SMILES of replicate rows, if there are any."""
    texts = [
        ", ".join(name if name == smiles else f"{name} ({smiles})" for name, smiles in sorted(rows)) for rows in forms
    ]
    return {OTHER_FORMS: texts} if any(texts) else {}


def join_cells(cells: Cells, count: int) -> dict[str, list[str]]:
    """Return a text for each molecule in each column, which lists the different texts of its rows.

    Args:
        cells: cells of the columns.
        count: number of molecules.
    """
    joined = {}
    for name in cells.texts:
        different: list[dict[str, None]] = [{} for _ in range(count)]
        for owner, text in zip(cells.owners.tolist(), cells.words(name), strict=True):
            if cells.table.decimal == "," and DECIMAL_COMMA.fullmatch(text):
                text = text.replace(",", ".")
            if text:
                different[owner][text] = None
        joined[name] = list(map(BETWEEN.join, different))
    return joined
