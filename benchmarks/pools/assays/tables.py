"""Summarise plays with two assays: the good molecules found, less those that dear results alone found."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.pools.assays.plays import SCORES
from benchmarks.pools.summary import Table
from graph_bandit_lab.analysis import bootstrap_interval

CASE = ["pair", "price", "player"]


def tables(plays: pd.DataFrame) -> list[Table]:
    """Return a table with a row for each pair, price and player, with 95 % bootstrap intervals over starts.

    Differences are those of equal pairs and starts, since the player "dear" does not look at the price.

    Args:
        plays: the table from `plays.play_all`.
    """
    dear = plays[plays["player"] == "dear"].set_index(["pair", "price", "seed"])[SCORES[0]]
    rows: list[tuple[str, ...]] = [
        ("pair", "correlation", "price", "player", "found", "of", "less dear", "dear results", "cheap results", "plays")
    ]
    for (pair, price, player), some in plays.groupby(CASE, sort=False):
        found = some.set_index(["pair", "price", "seed"])[SCORES[0]]
        less = (found - dear.reindex(found.index)).dropna()
        of, bought, cheap, together = (f"{some[name].mean():.3g}" for name in SCORES[1:])
        difference = "" if player == "dear" or less.empty else _with_interval(less, "+.1f")
        cells = (_with_interval(found, ".1f"), of, difference, bought, cheap, str(len(some)))
        rows.append((str(pair), together, str(price), str(player), *cells))
    return [Table("Molecules of the top 5 % found for 6,000, with 95 % intervals over starts", rows)]


def _with_interval(values: pd.Series[float], form: str) -> str:
    numbers = np.asarray(values, np.float64)
    low, high = bootstrap_interval(numbers)
    return f"{numbers.mean():{form}} [{low:{form}}, {high:{form}}]"
