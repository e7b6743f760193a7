"""Fit what one half of a pool gave to what the backtest of the other half promised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.pools.halves.plays import HALVES
from benchmarks.pools.screening import Floats
from benchmarks.pools.summary import Table
from graph_bandit_lab.analysis import bootstrap_interval

SCORES = {  # more than random choice
    "known": "of the ten best, known on average",
    "found": "of the ten best, found within the budget",
    "good": "% of the best 5 %, found within the budget",
}
DRAWS = 4000  # of the bootstrap


@dataclass(frozen=True)
class Line:
    """The least-squares line through what came, as a function of what was promised."""

    slope: float
    intercept: float
    low: float
    """Lower bound of the 95 % interval of the slope: a bootstrap that draws whole pools."""
    high: float
    correlation: float


def pairs_of(starts: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return a row for each pool and split: what was promised and came, with 95 % intervals over starts.

    Args:
        starts: the table of `plays.play_halves`.
        score: key of `SCORES`.
    """
    more = starts.assign(more=starts[f"agent_{score}"] - starts[f"random_{score}"])
    rows = []
    for (pool, split), played in more.groupby(["pool", "split"], sort=False):
        row: dict[str, object] = {"pool": pool, "split": split, "molecules": int(played["molecules"].min())}
        for name, half in zip(("promised", "came"), HALVES, strict=True):
            values = played[played["half"] == half]["more"].to_numpy(np.float64)
            if len(values):
                row |= {name: values.mean(), f"{name}_low": 0.0, f"{name}_high": 0.0}
                row[f"{name}_low"], row[f"{name}_high"] = bootstrap_interval(values)
        rows.append(row)
    return pd.DataFrame(rows).dropna()


def fit_line(pairs: pd.DataFrame) -> Line:
    """Return the line, and the interval of its slope.

    Args:
        pairs: the table of `pairs_of`, of at least two pools.
    """
    promised, came = pairs["promised"].to_numpy(np.float64), pairs["came"].to_numpy(np.float64)
    names, unit = np.unique(pairs["pool"].to_numpy(str), return_inverse=True)
    drawn = np.random.default_rng(0).multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)[:, unit]
    slopes = np.array([_slope(promised, came, weights.astype(np.float64)) for weights in drawn])
    low, high = np.nanquantile(slopes, [0.025, 0.975])
    slope = _slope(promised, came, np.ones(len(pairs)))
    return Line(
        slope,
        float(came.mean() - slope * promised.mean()),
        float(low),
        float(high),
        float(np.corrcoef(promised, came)[0, 1]),
    )


def tables(starts: pd.DataFrame) -> list[Table]:
    """Return a table of the pools for each score, and one of the lines."""
    found = []
    lines: list[tuple[str, ...]] = [
        ("more than random choice", "promised", "came", "slope [over pools]", "intercept", "correlation")
    ]
    for score, name in SCORES.items():
        pairs = pairs_of(starts, score)
        rows: list[tuple[str, ...]] = [("pool", "split", "molecules of a half", "promised [over starts]", "came")]
        for row in pairs.to_dict("records"):
            shown = [
                f"{row[half]:+.2f} [{row[f'{half}_low']:+.2f}, {row[f'{half}_high']:+.2f}]"
                for half in ("promised", "came")
            ]
            rows.append((row["pool"], row["split"], str(row["molecules"]), *shown))
        found.append(Table(f"More than random choice: {name}", rows))
        if pairs["pool"].nunique() > 2:
            line = fit_line(pairs)
            interval = f"{line.slope:.2f} [{line.low:.2f}, {line.high:.2f}]"
            means = (f"{pairs['promised'].mean():+.2f}", f"{pairs['came'].mean():+.2f}")
            lines.append((name, *means, interval, f"{line.intercept:+.2f}", f"{line.correlation:.2f}"))
    return [*found, Table(f"What came against what was promised, {len(pairs)} pairs of halves", lines)]


def _slope(promised: Floats, came: Floats, weights: Floats) -> float:
    """Return the slope of the weighted least-squares line; NaN if all promises are equal."""
    if np.ptp(promised[weights > 0]) == 0:
        return np.nan
    centred = promised - np.average(promised, weights=weights)
    return float((weights * centred * came).sum() / (weights * centred**2).sum())
