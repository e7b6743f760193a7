"""Summarise plays with money in tables: what each way to choose bought, less what choice without prices bought."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchmarks.pools.prices.plays import SCORES
from benchmarks.pools.summary import Table
from graph_bandit_lab.analysis import bootstrap_interval

SHOWN = SCORES[2:]
CASE = ["drawn", "agent", "weight", "budget"]


def tables(rows: pd.DataFrame, pools: Sequence[str], by_pool: bool = False) -> list[Table]:
    """Return a table over pools, and on request one with a row for each pool.

    A mean is that of the means of pools, and its 95 % interval a bootstrap interval over pools; on one pool the
    interval is over seeds. Differences are those of equal pools, prices and seeds.

    Args:
        rows: the table from `plays.play_all`.
        pools: names of the pools, in the order of the rows.
        by_pool: whether to add a row for each pool.
    """
    rows = rows[rows["pool"].isin(pools)]
    full = rows[rows["weight"].astype(float) == 0]
    full = full[full["budget"].astype(float) == full["budget"].astype(float).max()]
    reference = full.set_index(["drawn", "agent", "pool", "seed"])[[*SCORES]]
    header = (*CASE, *(text for name in SHOWN for text in (name, "less without prices")), "spent", "measured", "plays")
    found: list[tuple[str, ...]] = [header]
    alone: list[tuple[str, ...]] = [("pool", *header)]
    for _, plays in rows.groupby(CASE, sort=False):
        found.append(_row(plays, reference))
        alone += [(name, *_row(plays[plays["pool"] == name], reference)) for name in pools]
    title = f"Money on {len(pools)} pools, with 95 % intervals over {'pools' if len(pools) > 1 else 'seeds'}"
    return [Table(title, found)] + [Table("By pool, with 95 % intervals over seeds", alone)] * by_pool


def _row(plays: pd.DataFrame, reference: pd.DataFrame) -> tuple[str, ...]:
    by_play = plays.set_index(["drawn", "agent", "pool", "seed"])[[*SCORES]]
    less = by_play.sub(reference.reindex(by_play.index)).dropna()
    cells = []
    for name in SHOWN:
        cells += [_with_interval(by_play[name], ".1f"), _with_interval(less[name], "+.1f")]
    means = by_play[[*SCORES[:2]]].mean()
    case = [str(plays[name].iloc[0]) if len(plays) else "" for name in CASE]
    return (*case, *cells, f"{means['spent']:.1f}", f"{means['measured']:.1f}", str(len(plays)))


def _with_interval(values: pd.Series[float], form: str) -> str:
    if values.empty:
        return ""
    by_pool = values.groupby(level="pool").mean()
    units = np.asarray(by_pool if len(by_pool) > 1 else values, np.float64)
    low, high = bootstrap_interval(units)
    return f"{units.mean():{form}} [{low:{form}}, {high:{form}}]"
