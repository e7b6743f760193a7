"""Summarise plays with two goals: what share of the hypervolume was found, and how much more `front` found."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.pools.goals.plays import REFERENCES, SCORED
from benchmarks.pools.summary import Table
from graph_bandit_lab.analysis import bootstrap_interval

AGAINST = "front"


def tables(plays: pd.DataFrame) -> list[Table]:
    """Return two tables for each pair of pools, one for each reference of the hypervolume.

    Intervals are bootstrap intervals over seeds; differences are those of equal seeds.

    Args:
        plays: the table of `plays.play_all`.
    """
    return [
        _table(pair, rows, reference) for pair, rows in plays.groupby("pair", sort=False) for reference in REFERENCES
    ]


def _table(pair: object, plays: pd.DataFrame, reference: str) -> Table:
    molecules = f"{plays['molecules'].iloc[0]:,.0f}"
    header = [text for count in SCORED for text in (f"% after {count}", f"{AGAINST} less it")]
    rows: list[tuple[str, ...]] = [("player", *header, "plays", "seconds a play")]
    best = plays[plays["player"] == AGAINST].set_index("seed")
    for player, own in plays.groupby("player", sort=False):
        cells = []
        for count in SCORED:
            values = own.set_index("seed")[f"{reference} {count}"]
            more = best[f"{reference} {count}"].sub(values).dropna()
            cells += [_with_interval(values, ".1f"), "" if player == AGAINST else _with_interval(more, "+.1f")]
        rows.append((str(player), *cells, str(len(own)), f"{own['seconds'].mean():.0f}"))
    title = f"{pair}, {molecules} molecules: % of the hypervolume of the pool from the {reference} values"
    return Table(f"{title}, with 95 % intervals over starts", rows)


def _with_interval(values: pd.Series[float], form: str) -> str:
    if values.empty:
        return ""
    low, high = bootstrap_interval(np.asarray(values, np.float64))
    return f"{values.mean():{form}} [{low:{form}}, {high:{form}}]"
