"""A pool that is a table of molecules: read once, and held in memory, if it fits there, as one block."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import psutil

from graph_bandit_campaign.names import find_identifier
from graph_bandit_campaign.pool.block import Cells
from graph_bandit_campaign.pool.source import Source
from graph_bandit_env import MoleculeSet
from graph_bandit_env.pools import read_molecule_table
from graph_bandit_env.tables import Table, TooManyRowsError


class TablePool:
    """The molecules of a table, with the cells of its other columns.

    Args:
        molecules: the molecules, with the user's own columns of the table.
        cells: cells of all columns, the rows of a molecule together.
        columns: names of the columns other than those of SMILES and names.
    """

    def __init__(self, molecules: MoleculeSet, cells: Cells, columns: tuple[str, ...]) -> None:
        self.molecules, self.cells, self.columns = molecules, cells, columns

    @classmethod
    def read(cls, table: Table, source: Source, budget: Budget) -> TablePool:
        """Read an open table, in one pass.

        Raises:
            ImportError, ValueError: as `from_smiles_csv`, or if the pool does not fit into memory.
        """
        smiles, identifier = find_names(table, source)
        texts = [name for name in table.columns if name]
        try:
            molecules, rows = read_molecule_table(
                table,
                smiles,
                identifier,
                source.columns,
                texts,
                on_error="skip" if source.skip_bad_rows else "raise",
                workers=source.workers or 1,
                most_rows=budget.most_rows,
                most_atoms=source.most_atoms,
                salts=source.salts,
            )
        except TooManyRowsError as error:
            raise ValueError(budget.refusal(table.path, error.count)) from error
        header = Table(table.path, table.columns, (), table.unit, table.sheet, table.sheets, table.decimal)
        used = (smiles, identifier) if table.has_header else texts
        others = tuple(name for name in texts if name not in used)
        return cls(molecules, Cells(rows.owners, rows.numbers, rows.texts, header), others)

    def take(self, index: Sequence[int], columns: Sequence[str]) -> Cells:
        """Return the cells of some columns of the molecules with these indices, in this order."""
        begins = np.searchsorted(self.cells.owners, np.arange(len(self.molecules) + 1))
        rows = [np.arange(begins[k], begins[k + 1]) for k in index]
        owners = np.repeat(np.arange(len(rows)), list(map(len, rows)))
        every = np.concatenate([np.zeros(0, np.int64), *rows])
        texts = {name: [self.cells.texts[name][k] for k in every.tolist()] for name in columns}
        return Cells(owners, self.cells.rows[every], texts, self.cells.table)

    def forms(self, index: Sequence[int]) -> list[list[tuple[str, str]]]:
        """Return names and canonical SMILES of the rows that repeat molecules, for those with these indices."""
        pool = self.molecules
        rows: dict[str, list[tuple[str, str]]] = {pool.ids[k]: [] for k in index}
        smiles_of = {pool.ids[k]: pool.smiles[k] for k in index}
        for alias, name in pool.aliases.items():
            if name in rows:
                rows[name].append((alias, pool.written.get(alias, smiles_of[name])))
        return list(rows.values())


def find_names(table: Table, source: Source) -> tuple[str, str | None]:
    """Return the columns of SMILES and names of a table; None if it has no names."""
    alike = [name for name in table.columns if name.casefold() == source.smiles.casefold()]
    smiles = source.smiles if source.smiles in table.columns or len(alike) != 1 else alike[0]
    return smiles, find_identifier(source.identifier, table.columns, str(table.path))


BYTES_PER_MOLECULE = 5_000  # texts, categories and traits; those of 13 to 40 atoms take 2.6 kB
BYTES_PER_GRAPH = 40_000  # for an agent that reads atoms and bonds: `gnn-ts` takes 33 kB a molecule
BYTES_PER_MEASUREMENT = 100_000  # its kernel with a block of 4,096 molecules in float64, three times
BYTES_PER_PAIR = 40  # of measurements: the kernel, its factor, and what is needed to compute both
BYTES_PER_NUMBER = 80  # of the user's own columns: as read, as joined, and as the agent ranks and standardises it
BYTES_PER_CELL = 90  # of another column, kept as text
BYTES_AT_ALL = 500_000_000  # libraries, network and one block of the computation
LIMIT, USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")  # of a container on Linux


class Budget:
    """The memory that is left for a pool.

    Args:
        results: how many measurements there are; they need memory, too.
        columns: how many numbers of the user's own each molecule has.
        graphs: whether an agent reads atoms and bonds.
        cells: how many columns the table has; those other than SMILES and names are kept as text.
    """

    def __init__(self, results: int, columns: int = 0, graphs: bool = False, cells: int = 0) -> None:
        self.results, self.available = results, available_memory()
        self.per_row = (BYTES_PER_GRAPH if graphs else BYTES_PER_MOLECULE) + columns * BYTES_PER_NUMBER
        self.per_row += max(0, cells - 2) * BYTES_PER_CELL
        self.fixed = BYTES_AT_ALL + results * (BYTES_PER_MEASUREMENT + results * BYTES_PER_PAIR)

    @property
    def most_rows(self) -> int:
        """Return how many molecules fit."""
        return max(0, int((self.available - self.fixed) // self.per_row))

    def refusal(self, path: Path, rows: int) -> str:
        """Return the message for a pool that does not fit."""
        needed = self.fixed + rows * self.per_row
        return (
            f"Expected a pool that fits into memory. {path} has {rows:,} rows, which with {self.results:,} results "
            f"need about {needed / 1e9:.1f} GB, and {self.available / 1e9:.1f} GB are available. Give `graph-bandit "
            f"prepare {path} --out FOLDER`, and the folder in its place; or use a part of it, at most "
            f"{self.most_rows:,} rows."
        )


def available_memory() -> float:
    """Return how many bytes are available, within the limit of the container if there is one."""
    limits = [float(psutil.virtual_memory().available)]
    if LIMIT.is_file() and USED.is_file() and (limit := LIMIT.read_text(encoding="ascii").strip()) != "max":
        limits.append(float(limit) - float(USED.read_text(encoding="ascii")))
    return min(limits)
