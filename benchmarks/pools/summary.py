"""Summarise plays in tables: the mean score of each player, and its difference from a reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.pools.data.sources import Source
from graph_bandit_lab.analysis import bootstrap_interval
from graph_bandit_lab.reports import print_columns


@dataclass(frozen=True)
class Table:
    """A table as it is printed."""

    title: str
    """Its contents, and whether its intervals are over pools or over starts."""
    rows: list[tuple[str, ...]]
    """Header and rows."""


def show(found: Iterable[Table], markdown: bool) -> None:
    """Print tables, each under its title."""
    for table in found:
        print(f"\n{table.title}\n")
        print_columns(table.rows, markdown=markdown)


def tables(
    plays: pd.DataFrame, sources: Sequence[Source], players: Sequence[str], reference: str, by_pool: bool = False
) -> list[Table]:
    """Return a table for each score, for computed and for measured values apart.

    On several pools, a mean is that of the means of the pools, and its 95 % interval a bootstrap interval over pools: a
    pool that is drawn comes with all its starts, since starts of a pool resemble each other. On one pool the interval
    is over its starts. A difference is taken over the starts that both players have played on a pool; both begin with
    the same measurements.

    Args:
        plays: the table from `campaign.play_all`.
        sources: the sources of the pools.
        players: names in the order of the rows; players without plays are left out.
        reference: the player to subtract.
        by_pool: whether to add a table with a row for each pool and player after each table of several pools.
    """
    found = []
    for kind in dict.fromkeys(source.pool.kind for source in sources):
        of_kind = [source for source in sources if source.pool.kind == kind]
        rows = plays[plays["screen"].isin([source.name for source in of_kind])]
        present = [name for name in players if (rows["player"] == name).any()]
        for score in of_kind[0].shown if present else ():
            found.append(_over_pools(rows, of_kind, present, reference, score))
            if by_pool and len(of_kind) > 1:
                found.append(_by_pool(rows, of_kind, present, reference, score))
    return found


def _over_pools(
    plays: pd.DataFrame, sources: Sequence[Source], players: Sequence[str], reference: str, score: str
) -> Table:
    several = len(sources) > 1
    place = f"{len(sources)} pools, {sources[0].pool.kind}" if several else sources[0].name
    title = f"{place}: {score}, with 95 % intervals over {'pools' if several else 'starts'}"
    counted = ("pools", "plays", "seconds a play") if several else ("seeds", "seconds a seed")
    rows: list[tuple[str, ...]] = [("player", *_columns(score, reference), *counted)]
    for player in players:
        own = plays[plays["player"] == player]
        by_start, difference = _scores_of(plays, player, score), _differences(plays, player, reference, score)
        counts = [own["screen"].nunique(), len(own)] if several else [len(own)]
        shown = _cells(by_start, difference, score, several)
        rows.append((player, *shown, *map(str, counts), f"{own['seconds'].mean():.1f}"))
    return Table(title, rows)


def _by_pool(
    plays: pd.DataFrame, sources: Sequence[Source], players: Sequence[str], reference: str, score: str
) -> Table:
    title = f"By pool, {sources[0].pool.kind}: {score}, with 95 % intervals over starts"
    rows: list[tuple[str, ...]] = [("pool", "player", *_columns(score, reference), "seeds")]
    for source in sources:
        here = plays[plays["screen"] == source.name]
        for player in players:
            by_start, difference = _scores_of(here, player, score), _differences(here, player, reference, score)
            if len(by_start):
                shown = _cells(by_start, difference, score, over_pools=False)
                rows.append((source.pool.name, player, *shown, str(len(by_start))))
    return Table(title, rows)


def _columns(score: str, reference: str) -> tuple[str, str]:
    return f"{score} [95 % interval]", f"less {reference} [95 % interval]"


def _scores_of(plays: pd.DataFrame, player: str, score: str) -> pd.Series[float]:
    """Return the scores of a player by screen and seed."""
    return plays[plays["player"] == player].set_index(["screen", "seed"])[score]


def _differences(plays: pd.DataFrame, player: str, reference: str, score: str) -> pd.Series[float]:
    """Return the differences from the reference by screen and seed, none for the reference itself."""
    if player == reference:
        return _scores_of(plays, player, score)[:0]
    return _scores_of(plays, player, score).sub(_scores_of(plays, reference, score)).dropna()


def _cells(by_start: pd.Series[float], difference: pd.Series[float], score: str, over_pools: bool) -> tuple[str, str]:
    digits = ".2f" if score.endswith("(sd)") else ".1f"
    return _with_interval(by_start, digits, over_pools), _with_interval(difference, f"+{digits}", over_pools)


def _with_interval(values: pd.Series[float], form: str, over_pools: bool) -> str:
    if values.empty:
        return ""
    units = values.groupby(level="screen").mean() if over_pools else values
    low, high = bootstrap_interval(np.asarray(units, np.float64))
    return f"{units.mean():{form}} [{low:{form}}, {high:{form}}]"
