"""Tables of how many molecules that fail were suggested, and how many good ones were found."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.pools.failing.causes import LIPOPHILIC, RANDOM
from benchmarks.pools.summary import Table
from graph_bandit_lab.analysis import bootstrap_interval

HEADER = (
    "cause", "plays", "% of the pool that fails", "% that failed, ignored", "% that failed, learnt",
    "learnt / ignored [95 % interval]", "% of the top 5 %, ignored", "less ignored, learnt [95 % interval]",
)  # fmt: skip


def tables(plays: pd.DataFrame, by_cause: bool = False) -> list[Table]:
    """Return a table by kind of cause; intervals are over pools.

    Args:
        plays: the table of `plays.play_all`.
        by_cause: whether to add a table with a row for each cause of each pool.
    """
    kinds = plays["cause"].where(plays["cause"].isin([RANDOM, LIPOPHILIC]), "a substructure")
    number = plays["pool"].nunique()
    rows = [HEADER, *(_row(str(kind), part, several=True) for kind, part in plays.groupby(kinds, sort=False))]
    found = [Table(f"{number} pools: failures among the molecules suggested, with 95 % intervals over pools", rows)]
    if by_cause:
        by_pool = plays.groupby(["pool", "cause"], sort=False)
        rows = [HEADER, *(_row(f"{pool}: {cause}", part, several=False) for (pool, cause), part in by_pool)]
        found.append(Table("By pool and cause", rows))
    return found


def _row(name: str, part: pd.DataFrame, several: bool) -> tuple[str, ...]:
    key = ["pool", "cause", "seed"]
    ignored, learnt = (part[part["learns"] == learns].set_index(key) for learns in (0, 1))
    sums = pd.DataFrame({"ignored": ignored["failed"], "learnt": learnt["failed"], "all": ignored["suggested"]})
    gain = (learnt["top"] - ignored["top"]).groupby("pool").mean()
    by_pool = sums.groupby("pool").sum()
    ratio, change = f"{_ratio(by_pool.to_numpy()):.2f}", f"{gain.mean():+.1f}"
    if several and len(by_pool) > 1:
        draws = np.random.default_rng(0).integers(len(by_pool), size=(2000, len(by_pool)))
        low, high = np.quantile([_ratio(by_pool.to_numpy()[draw]) for draw in draws], [0.025, 0.975])
        ratio += f" [{low:.2f}, {high:.2f}]"
        low, high = bootstrap_interval(gain.to_numpy())
        change += f" [{low:+.1f}, {high:+.1f}]"
    failed = [f"{100 * sums[column].sum() / sums['all'].sum():.1f}" for column in ("ignored", "learnt")]
    share, top = f"{100 * ignored['share'].mean():.0f}", f"{ignored['top'].groupby('pool').mean().mean():.1f}"
    return (name, str(len(sums)), share, *failed, ratio, top, change)


def _ratio(sums: NDArray[np.float64]) -> float:
    """Return failures learnt over failures ignored, from rows of (ignored, learnt, all)."""
    ignored, learnt, _ = sums.sum(axis=0)
    return float(learnt / max(1, ignored))
