"""Molecules of a pool that are in memory: names, SMILES, descriptors, and cells of the table."""

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
BETWEEN = " | "  # what rows of one molecule say differently
KEPT = 4096  # molecules that are parsed once: those of a block; one takes some 10 kB


@lru_cache(maxsize=KEPT)
def molecule_of(smiles: str) -> Mol:
    """Return the molecule of a canonical SMILES, which must not be changed."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        return Chem.MolFromSmiles(smiles)


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of other columns of the table, row by row: the rows of a molecule stand together, its first one first."""

    owners: NDArray[np.int64]
    """`(R,)`. Index of the molecule of each row."""
    rows: NDArray[np.int64]
    """`(R,)`. Each row of the table as people count."""
    texts: Mapping[str, Sequence[str]]
    """R texts by column, as the table has them."""
    table: Table
    """Reads numbers as in this table; it has no rows."""

    def numbers(self, column: str, skip_bad: bool = False) -> NDArray[np.float64]:
        """Read the cells of a column as numbers, `(R,)`; NaN for an empty cell, "n/a" and the like.

        Args:
            column: name of the column.
            skip_bad: whether a cell that is not a number counts as not known.

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
        """Return the cells of a column of text, R of them, as people wrote them."""
        return [unshield(text.strip()) for text in self.texts[column]]


@dataclass(frozen=True, eq=False)
class Block:
    """Molecules of a pool."""

    places: NDArray[np.int64]
    """`(K, 2)`. Part and row in it of each molecule."""
    ids: Sequence[str]
    """Names; the canonical SMILES where the table has none."""
    written: Sequence[str]
    """SMILES as the table has them."""
    smiles: Sequence[str]
    """Canonical SMILES."""
    descriptors: Descriptors
    """Those descriptors that were asked for."""
    cells: Cells
    """Cells of the columns that were asked for, of the molecules and of rows that repeat them."""

    def __len__(self) -> int:
        return len(self.places)

    def take(self, index: NDArray[np.integer] | Sequence[int]) -> Block:
        """Return the molecules with these indices, in this order."""
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
        """Return columns of numbers, `(K, c)`: the mean of what the rows of a molecule know, NaN if they know nothing.

        Args:
            columns: names of c columns.
            skip_bad: whether a cell that is not a number counts as not known.

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
        """Return the molecules of some blocks, one after the other; at least one block."""
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
    """Return the columns that nothing else in the suggestions shows, whose capitals do not count.

    Args:
        names: columns of the pool, without those of names and SMILES.
        shown: columns that are shown, and those of measured values: what the pool has there does not count as results.
    """
    taken = {name.casefold() for name in shown if name}
    return tuple(name for name in names if name and name.casefold() not in taken)


def list_forms(forms: Sequence[Sequence[tuple[str, str]]]) -> dict[str, list[str]]:
    """Return a column of the suggestions with names and SMILES of their other rows in the pool; none without any."""
    texts = [
        ", ".join(name if name == smiles else f"{name} ({smiles})" for name, smiles in sorted(rows)) for rows in forms
    ]
    return {OTHER_FORMS: texts} if any(texts) else {}


def join_cells(cells: Cells, count: int) -> dict[str, list[str]]:
    """Return a text for each of some molecules in each column; what its rows say differently stands side by side.

    Args:
        cells: cells of the columns.
        count: how many molecules there are.
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
