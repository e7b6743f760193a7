"""Read a finished table of molecules, as `suggest` reads a pool and its results."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.backtest.settings import BacktestSettings
from graph_bandit_campaign.constraints.limits.limits import need_column
from graph_bandit_campaign.pool.actions import holds_actions, open_actions
from graph_bandit_campaign.pool.block import Block
from graph_bandit_campaign.pool.descriptors import reads_graphs, refuse_large
from graph_bandit_campaign.pool.own_columns import Features
from graph_bandit_campaign.pool.prepared.making.run import open_table_pool
from graph_bandit_campaign.pool.prepared.pool import PreparedPool
from graph_bandit_campaign.results.matching import Matcher, match_rows
from graph_bandit_campaign.results.rows import Columns, NoResultsError, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import find_column
from graph_bandit_campaign.verbs import tell
from graph_bandit_env import GraphPool, tables
from graph_bandit_env.pools import check_known
from graph_bandit_env.tables import refuse_differing

LEAST = 40  # molecules: with fewer, a quarter of the table is hardly more than the random start
MOST = 300  # measurements, if the user gives no number
TOP = 10  # number of best molecules to find


@dataclass(frozen=True, eq=False)
class Table:
    """Molecules with their values, and the numbers of measurements."""

    molecules: GraphPool
    """K molecules or actions of slots, each with a value."""
    values: NDArray[np.float64]
    """`(K,)`. The mean of the results of each molecule."""
    maximize: bool
    """True if large values are good."""
    start: int
    """Number of molecules that are measured first, at random."""
    budget: int
    """Total number of molecules that are measured, less than K."""
    remarks: tuple[str, ...] = ()
    """Remarks about the table, for people."""

    @property
    def rewards(self) -> NDArray[np.float64]:
        """Return the values if large ones are good, otherwise their negatives."""
        return self.values if self.maximize else -self.values

    def count_best(self, orders: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the ten best values found after each measurement, in the shape of `orders`.

        Molecules tied at the tenth value are interchangeable, and only as many count as fit in the top ten.

        Args:
            orders: `(..., t)`. Molecules in the order of measurement.
        """
        rewards = self.rewards
        threshold = np.partition(rewards, -TOP)[-TOP]
        ties = TOP - int((rewards > threshold).sum())
        above, equal = (np.cumsum(each[orders], axis=-1) for each in (rewards > threshold, rewards == threshold))
        return np.asarray(above + np.minimum(equal, ties), np.int64)


def read_table(settings: BacktestSettings) -> Table:
    """Read the molecules that have a value.

    Raises:
        ValueError, OSError: if a table cannot be read, has too few values, or is too small for start and budget.
        ImportError: if a package for reading the table is not installed.
    """
    every, state, remarks = _read(settings)
    values_of = _values(state)
    known = [k for k, identifier in enumerate(every.ids) if identifier in values_of]
    if len(known) < LEAST:
        text = f"Expected at least {LEAST} molecules with a number in column `{settings.quantity}`."
        raise ValueError(f"{text} {settings.table} has {len(known)}, of which a random start finds much.")
    molecules = every.take(known)
    values = np.array([sum(values_of[key]) / len(values_of[key]) for key in molecules.ids])
    if np.ptp(values) == 0:
        raise ValueError(f"Expected different values in `{settings.quantity}`. All {len(known)} are {values[0]}.")
    largest, start, count = max(settings.n), settings.first, len(known)
    budget = settings.budget or max(min(count // 4, MOST), start + 2 * largest)
    most = count - 1 if settings.budget else count // 2
    if not start < budget <= most:
        text = f"Expected `--budget` above the {start} of `--start` and at most {most}, of {count} molecules."
        raise ValueError(f"{text} Got {budget}. The default is at least two batches. Lower --n or --start.")
    counts = {
        "{:,} without a value left out": len(every) - count,
        "{:,} further values of the same molecules averaged": sum(map(len, values_of.values())) - count,
        "{:,} bounds taken as values": len({each.id for each in state.counted() if each.bound} & values_of.keys()),
    }
    remarks = [*(text.format(number) for text, number in counts.items() if number), *remarks]
    return Table(molecules, values, settings.maximize is not None, start, budget, tuple(remarks))


def _read(settings: BacktestSettings) -> tuple[GraphPool, CampaignState, list[str]]:
    """Return molecules with the user's own columns, or actions of slots, their results, and remarks about the table."""
    source, table = settings.source, settings.table
    if holds_actions(source, settings.ignore_column):
        if settings.features:
            raise ValueError(f"Expected molecules for --features. {table} holds actions of several slots.")
        actions = open_actions(source)
        target = need_column(settings.quantity, [*actions.cells], str(table), settings.quantity)
        refuse_differing(actions.differing, {target, *settings.ignore_column}, table.name)
        rows = [*zip(actions.lines.tolist(), actions.cells[target], actions.owners.tolist(), strict=True)]
        bad = [f"bad rows left out: {len(actions.bad):,}"] * bool(actions.bad)
        state, remarks = _tell(settings, actions.actions, target, actions.body, rows)
        return actions.actions, state, [*actions.remarks, *bad, *remarks]
    target = settings.quantity
    pool, remarks = (PreparedPool.open(table), []) if table.is_dir() else open_table_pool(source)
    made = pool.manifest.question
    own = source.columns
    features = Features(own, source.embeddings, (target,))
    refuse_large(table, len(pool), any(map(reads_graphs, (*settings.agents, *settings.baselines))))
    header = tables.Table(table, (*filter(None, (made.smiles, made.identifier)), *pool.columns), ())
    target = find_column(target, pool.columns, str(table)) or target
    list(header.rows([target, *source.columns]))  # there are no rows, but a missing column is rejected
    refuse_differing(pool.manifest.differing, {target, *source.columns, *settings.ignore_column}, table.name)
    molecules = pool.load(own, settings.skip_bad_rows)
    check_known(molecules.columns, own, str(table))
    cells = Block.join(list(pool.blocks((), [target]))).cells
    rows = [*zip(cells.rows.tolist(), cells.texts[target], cells.owners.tolist(), strict=True)]
    state, more = _tell(settings, molecules, target, cells.table, rows)
    bad = [f"bad rows left out: {len(molecules.skipped):,}"] * bool(molecules.skipped)
    return features.add_to(molecules, {}), state, [*bad, *remarks, *more]


def _tell(
    settings: BacktestSettings, graphs: GraphPool, target: str, table: tables.Table, rows: list[tuple[int, str, int]]
) -> tuple[CampaignState, list[str]]:
    """Return a campaign with all values, and remarks. Each row has a number, a value and a graph."""
    records = [(number, (text, graphs.ids[owner])) for number, text, owner in sorted(rows, key=lambda row: row[0])]
    body = replace(table, columns=(target, "id"), records=records, problems=[])
    try:
        results = ResultTables([body], body.sheet or None).read(Columns(target, "id"))
    except NoResultsError as error:
        raise ValueError(f"Expected numbers to replay in column `{target}` of {settings.table}. Got none.") from error
    matched = match_rows({"": results.rows}, Matcher(graphs))
    return tell(CampaignState("", settings.maximize is not None, 0), matched)[0], results.remarks


def _values(state: CampaignState) -> dict[str, list[float]]:
    """Return the values of each molecule, including some bounds.

    Bounds on the good side count as values, and so do bounds no better than the median. A molecule with a bound on the
    bad side of a good value may be good or bad, so it is left out.
    """
    counted, sign = state.counted(), 1.0 if state.maximize else -1.0
    exact = [result.value for result in counted if not result.bound]
    good, middle = ("above" if state.maximize else "below"), median(exact) if exact else math.nan
    values = dict[str, list[float]]()
    for each in counted:
        if each.bound in ("", good) or sign * each.value <= sign * middle:
            values.setdefault(each.id, []).append(each.value)
    return values
