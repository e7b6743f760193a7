"""Read the forecasts of plays, and count by bins of probability how many came true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from benchmarks.pools.campaign import FORECAST_COLUMNS, KEY, forecasts_path
from benchmarks.pools.screening import Floats
from benchmarks.pools.summary import Table

BINS = 10
DRAWS = 2000  # of the bootstrap
ONE_FORECAST = [*KEY, "round", "molecule"]


def read_forecasts(files: Sequence[Path], players: Sequence[str] = (), pools: Sequence[str] = ()) -> pd.DataFrame:
    """Read the forecasts of finished plays.

    Args:
        files: files of plays, each of which has a file of forecasts next to it.
        players: names of players; none: all that made forecasts.
        pools: names of pools; none: all.

    Returns:
        A table of `campaign.FORECAST_COLUMNS`, each forecast once. Those of a play that was not finished are left out.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if a file is not one of forecasts, or none is left of a player or pool that was named.
    """
    found = pd.concat([_read_one(file) for file in files]).drop_duplicates(ONE_FORECAST, keep="last")
    for column, names in (("player", players), ("pool", pools)):
        missing = set(names) - set(found[column])
        if missing:
            known = ", ".join(sorted(set(found[column])))
            raise ValueError(
                f"Expected forecasts for each {column}. Got none for {', '.join(missing)}. Known: {known}."
            )
        if names:
            found = found[found[column].isin(names)]
    if found.empty:
        raise ValueError(
            f"Expected forecasts in {', '.join(map(str, files))}. Got none: these players predict nothing."
        )
    return found


def _read_one(file: Path) -> pd.DataFrame:
    finished = pd.read_csv(file)
    forecasts = pd.read_csv(forecasts_path(file)).dropna()  # a play that is being written may end in half a line
    if tuple(forecasts.columns) != FORECAST_COLUMNS:
        raise ValueError(f"Expected {forecasts_path(file)} to have the columns {', '.join(FORECAST_COLUMNS)}.")
    return forecasts.merge(finished[[*KEY]].drop_duplicates(), on=[*KEY])


@dataclass(frozen=True, eq=False)
class Reliability:
    """Forecasts in ten bins of probability, 0 to 0.1, and so on; NaN where a bin is empty."""

    count: Floats
    """`(10,)`, number of forecasts."""
    forecast: Floats
    """`(10,)`, mean probability."""
    share: Floats
    """`(10,)`, share of the forecasts that came true."""
    low: Floats
    """`(10,)`, lower bound of the 95 % interval of the share."""
    high: Floats
    """`(10,)`, upper bound."""


def reliability_of(forecasts: pd.DataFrame) -> Reliability:
    """Count forecasts of one player by bins.

    An interval is the union of two, which stay between 0 and 1: a percentile bootstrap interval that draws whole pools,
    or whole plays if there is one pool, since their forecasts resemble each other; and that of Wilson [1927], since all
    draws from a few forecasts of which none came true are 0.

    Args:
        forecasts: some rows of `read_forecasts`.
    """
    probability = forecasts["probability"].to_numpy(np.float64)
    bins = np.minimum((BINS * probability).astype(np.int64), BINS - 1)
    units, unit = np.unique(_units_of(forecasts), return_inverse=True)

    def sum_by_bin(values: Floats) -> Floats:
        """Return `(units, 10)`."""
        sums = np.zeros((len(units), BINS))
        np.add.at(sums, (unit, bins), values)
        return sums

    counts, true = sum_by_bin(np.ones(len(bins))), sum_by_bin(forecasts["beat"].to_numpy(np.float64))
    draws = np.random.default_rng(0).multinomial(len(units), np.full(len(units), 1 / len(units)), DRAWS)
    count, low, high = counts.sum(axis=0), np.full(BINS, np.nan), np.full(BINS, np.nan)
    for k in np.flatnonzero(count):
        drawn = draws @ counts[:, k]
        shares = (draws @ true[:, k])[drawn > 0] / drawn[drawn > 0]
        wilson = binomtest(round(true[:, k].sum()), round(count[k])).proportion_ci(method="wilson")
        low[k] = min(wilson.low, np.quantile(shares, 0.025))
        high[k] = max(wilson.high, np.quantile(shares, 0.975))
    with np.errstate(invalid="ignore"):  # 0 / 0 of an empty bin
        return Reliability(count, sum_by_bin(probability).sum(axis=0) / count, true.sum(axis=0) / count, low, high)


def _units_of(forecasts: pd.DataFrame) -> pd.Series[str]:
    if forecasts["pool"].nunique() > 1:
        return forecasts["pool"]
    return forecasts["screen"] + ", seed " + forecasts["seed"].astype(str)


def tables(forecasts: pd.DataFrame) -> list[Table]:
    """Return a table of bins for each player, on computed and on measured values apart, and one of all forecasts.

    The last table has the sum of the forecasts, how many came true, and the Brier score, the mean of (p - y)^2 for
    probabilities p and y = 1 if the forecast came true [Brier 1950]; next to it the score of a player that always says
    the share that came true.
    """
    found, rows = [], [_SUMMARY_HEADER]
    for (kind, player), own in forecasts.groupby(["kind", "player"], sort=False):
        pools = own["pool"].nunique()
        title = f"{player}, {kind} values, {pools} {'pool' if pools == 1 else 'pools'}"
        found.append(Table(title, _rows_of(reliability_of(own))))
        share = own["beat"].mean()
        brier = ((own["probability"] - own["beat"]) ** 2).mean()
        sums = (f"{own['probability'].sum():.1f}", str(own["beat"].sum()))
        plays = len(own[[*KEY]].drop_duplicates())
        rows.append(
            (str(player), str(kind), str(plays), str(len(own)), *sums, f"{brier:.4f}", f"{share * (1 - share):.4f}")
        )
    return [*found, Table("All forecasts that a molecule beats the best", rows)]


_SUMMARY_HEADER: tuple[str, ...] = (
    "player",
    "values",
    "plays",
    "forecasts",
    "sum of forecasts",
    "came true",
    "Brier score",
    "of the share alone",
)


def _rows_of(found: Reliability) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("probability", "mean forecast", "came true [95 % interval]", "forecasts")]
    for k in range(BINS):
        cells = ("", "", "0")
        if found.count[k]:
            interval = f"[{found.low[k]:.3f}, {found.high[k]:.3f}]"
            cells = (f"{found.forecast[k]:.3f}", f"{found.share[k]:.3f} {interval}", f"{found.count[k]:.0f}")
        rows.append((f"{k / BINS:.1f} to {(k + 1) / BINS:.1f}", *cells))
    return rows
