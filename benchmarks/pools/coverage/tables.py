"""Summarise coverage in tables: over pools, and a row for each pool."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from benchmarks.pools.coverage.plays import SCORES
from benchmarks.pools.data.catalogue import Pool
from benchmarks.pools.summary import Table

CASE = ["split", "results", "player"]


def tables(rows: pd.DataFrame, pools: Sequence[Pool], players: Sequence[str], by_pool: bool = False) -> list[Table]:
    """Return tables for computed values, measured values and cells apart.

    Args:
        rows: the table from `plays.cover_all`.
        pools: the pools, in the order of the rows.
        players: names in the order of the rows.
        by_pool: whether to add a row for each pool; a kind of one pool has these alone.
    """
    found = []
    for kind in dict.fromkeys(pool.kind for pool in pools):
        names = [pool.name for pool in pools if pool.kind == kind]
        of_kind = rows[rows["pool"].isin(names)]
        if of_kind.empty:
            continue
        of_kind = of_kind.assign(
            pool=pd.Categorical(of_kind["pool"], names), player=pd.Categorical(of_kind["player"], list(players))
        )
        by_draws = of_kind.groupby(["pool", *CASE], observed=True)[[*SCORES]].agg(["mean", "size"])
        if len(names) > 1:
            found.append(_over_pools(by_draws, kind))
        if by_pool or len(names) == 1:
            found.append(_by_pool(by_draws, kind))
    return found


def _over_pools(by_draws: pd.DataFrame, kind: str) -> Table:
    rows: list[tuple[str, ...]] = [(*CASE, *SCORES, "pools")]
    for case, scores in by_draws.groupby(CASE, observed=True):
        cells = []
        for name in SCORES:
            means, form = scores[name, "mean"], _form(name)
            cells.append(f"{means.mean():{form}} ({means.min():{form}} to {means.max():{form}})")
        rows.append((*map(str, case), *cells, str(len(scores))))
    return Table(f"Coverage over pools, {kind}: mean (smallest to largest) of the means over draws", rows)


def _by_pool(by_draws: pd.DataFrame, kind: str) -> Table:
    rows: list[tuple[str, ...]] = [("pool", *CASE, *SCORES, "draws")]
    for case, scores in zip(by_draws.index, by_draws.to_dict("records"), strict=True):
        cells = [f"{scores[name, 'mean']:{_form(name)}}" for name in SCORES]
        rows.append((*map(str, case), *cells, str(scores[SCORES[0], "size"])))
    return Table(f"Coverage by pool, {kind}: mean over draws", rows)


def _form(score: str) -> str:
    return ".1f" if score.startswith("%") else ".2f"
