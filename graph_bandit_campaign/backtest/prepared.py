"""Read a prepared pool into memory as a finished table: its molecules, and the results in one of its columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graph_bandit_campaign.backtest.settings import BacktestSettings
from graph_bandit_campaign.limits.names import find_column
from graph_bandit_campaign.prepared import PreparedPool
from graph_bandit_campaign.streaming.own_columns import read_own_columns
from graph_bandit_campaign.tables.books import Books, match_rows
from graph_bandit_campaign.tables.features import Features
from graph_bandit_campaign.tables.measured_rows import Columns, read_open_table
from graph_bandit_campaign.tables.memory import Budget
from graph_bandit_campaign.traits.kept import reads_graphs
from graph_bandit_env import MoleculeSet
from graph_bandit_env.tables import Table


def read_prepared_table(settings: BacktestSettings, measurements: int) -> tuple[MoleculeSet, Books]:
    """Return the molecules of a prepared pool, with their traits and the user's own columns, and their results.

    Args:
        settings: settings of the backtest.
        measurements: how many of the results an agent learns from at most, for the memory that it needs.

    Raises:
        ValueError, OSError: as `read_inputs`, or if the folder is not a prepared pool, or a part is damaged.
        ImportError: if pyarrow is not installed.
    """
    pool = PreparedPool.open(settings.table)
    made = pool.manifest.question
    for name, given, known in (
        ("smiles", settings.smiles, ("smiles", made.smiles)),
        ("id", settings.id, (None, made.identifier)),
        ("sheet", settings.sheet, (None, made.sheet)),
    ):
        if given not in known:
            raise ValueError(
                f"Expected `--{name}` as the pool was prepared with, `{known[-1]}`. Got `{given}`. Leave it out, or "
                "give the table."
            )
    read = settings.to_read()
    features = Features(read.feature_columns, read.embeddings, read.quantities)
    budget = Budget(measurements, features.count, any(map(reads_graphs, settings.agents)))
    if len(pool) > budget.most_rows:
        raise ValueError(
            f"Expected a pool that fits into memory, which a backtest needs. {settings.table} has {len(pool):,} "
            f"molecules, and {budget.most_rows:,} fit into the {budget.available / 1e9:.1f} GB that are available. "
            "Prepare a part of its table."
        )
    header = Table(settings.table, (*filter(None, (made.smiles, made.identifier)), *pool.columns), ())
    target = find_column(settings.target, pool.columns, str(settings.table)) or settings.target
    list(header.rows([target, *features.columns]))  # there are no rows; a column that is missing is refused
    blocks = pool.blocks((), features.columns)
    values = np.concatenate([read_own_columns(block, features.columns, read) for block in blocks])
    for name, column in zip(features.columns, values.T, strict=True):
        if np.isnan(column).all():
            raise ValueError(f"Expected at least one number in column `{name}` of {settings.table}. Got none.")
    rows = read_open_table(_results(pool, target), Columns(target, "id"))
    molecules = pool.load()
    books = match_rows(rows, molecules)
    return features.add_to(molecules.with_columns(features.columns, values), {}), books


def _results(pool: PreparedPool, target: str) -> Table:
    """Return the cells of a column, row by row, as a table of results."""

    def records() -> Iterator[tuple[int, tuple[str, str]]]:
        for block in pool.blocks((), [target]):
            cells = block.cells
            for owner, row, text in zip(cells.owners.tolist(), cells.rows.tolist(), cells.texts[target], strict=True):
                yield row, (text, block.ids[owner])

    header = next(pool.blocks((), [target])).cells.table
    return Table(header.path, (target, "id"), records(), header.unit, decimal=header.decimal)
