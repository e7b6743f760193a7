"""Compare what was promised of suggested molecules with what came, in tables."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from benchmarks.pools.summary import Table
from graph_bandit_lab.analysis import bootstrap_interval

HEADER = (
    "suggestions",
    "% in 90 %, as predicted",
    "% in 90 %, as suggested",
    "promised to beat the best, as predicted",
    "as suggested",
    "came",
)


def tables(rows: pd.DataFrame, by_pool: bool = False) -> list[Table]:
    """Return tables by size of batch and number of first results, of first rounds, and by pool.

    Shares are means over pools, with 95 % bootstrap intervals that draw whole pools.

    Args:
        rows: the table of `replays.replay_all`.
        by_pool: whether to add a row for each pool.
    """
    rows = rows.astype({"size": int, "results": int})
    pools = rows["pool"].nunique()
    where = f"{pools} {'pool' if pools == 1 else 'pools'}"
    sizes = rows.groupby("size")
    found = [
        Table(f"By size of batch, {where}", _rows_of(("batch",), (((size,), part) for size, part in sizes))),
        Table(
            f"By size of batch and first results, {where}",
            _rows_of(("batch", "first results"), rows.groupby(["size", "results"])),
        ),
        Table(
            f"The first round alone, {where}",
            _rows_of(("batch", "first results"), rows[rows["round"] == 1].groupby(["size", "results"])),
        ),
    ]
    if by_pool and pools > 1:
        each = rows.groupby(["pool", "size"], sort=False)
        found.append(Table("By pool", _rows_of(("pool", "batch"), each)))
    return found


def _rows_of(names: tuple[str, ...], parts: Iterable[tuple[tuple[object, ...], pd.DataFrame]]) -> list[tuple[str, ...]]:
    cells: list[tuple[str, ...]] = [(*names, *HEADER)]
    for key, part in parts:
        inside = [_share_inside(part, part[f"{prefix}low"], part[f"{prefix}high"]) for prefix in ("plain_", "")]
        sums = (f"{part[name].sum():.1f}" for name in ("plain_probability", "probability"))
        cells.append((*map(str, key), str(len(part)), *inside, *sums, f"{part['beat'].sum():.0f}"))
    return cells


def _share_inside(rows: pd.DataFrame, low: pd.Series, high: pd.Series) -> str:
    inside = 100.0 * ((rows["value"] >= low) & (rows["value"] <= high))
    means = np.asarray(inside.groupby(rows["pool"]).mean(), np.float64)
    if len(means) == 1:
        return f"{means[0]:.1f}"
    interval = bootstrap_interval(means)
    return f"{means.mean():.1f} [{interval[0]:.1f}, {interval[1]:.1f}]"
