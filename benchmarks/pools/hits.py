"""Find the hits of pools whose values are made two classes, and compare probabilities of a hit with shares of hits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.replay import compare, read_shuffled
from benchmarks.pools.study import Study, Table, over_pools
from graph_bandit_campaign import Campaign

Player = Literal["class", "number", "random"]
FOUND, SUMS = "% of the hits", ["molecules", "probability", "hits", "squares"]
START, BATCH, ROUNDS, SHARE, BINS = 60, 30, 5, 0.1, 10


@dataclass(frozen=True, kw_only=True)
class HitsStudy(Study):
    """Find the top 10 % of pools, the hits, if results are 0 or 1: 60 at random, then 5 batches of 30."""

    players: tuple[Player, ...] = ("class", "number", "random")
    """Campaigns that take results as classes or as the numbers 0 and 1, or choose at random. Others are compared with
    the first."""
    pools: tuple[str, ...] = ("affinity",)
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches), or docking-D, draw D."""
    seeds: int = 10
    """Plays of each player on a pool, each from another random start."""

    key = ("pool", "player", "seed")
    scores = (FOUND, "seconds", "suggested", "bin", *SUMS)

    def tasks(self) -> Iterator[tuple[str, str, int]]:
        """Yield every player and seed on every pool."""
        for pool in find_pools(self.pools):
            yield from ((pool.name, player, seed) for seed in range(self.seeds) for player in self.players)

    def play(self, name: str, player: Player, seed: int) -> Iterator[tuple[float, ...]]:
        """Play a pool; yield sums of predictions and hits by bins, of molecules that were suggested, and of the rest.

        The first row has the share of hits that was found at the end; in the others it is not a number.
        """
        molecules, begin = read_shuffled(name, self.data), time.perf_counter()
        best = np.argsort(-molecules.targets, kind="stable")[: round(SHARE * len(molecules))]
        hit = dict.fromkeys(molecules.ids, 0) | {molecules.ids[k]: 1 for k in best}
        start = np.random.default_rng(seed).choice(len(hit), START, replace=False)
        given = {"agent": "random"} if player == "random" else {"kind": player}
        campaign, rows = Campaign(molecules, seed=seed, **given), list[tuple[bool, float | None, int]]()
        campaign.tell({molecules.ids[k]: hit[molecules.ids[k]] for k in start})
        for _ in range(ROUNDS):
            left = [molecules.ids[k] for k in np.flatnonzero(campaign.on_offer())]
            suggested, every = {each.id: each for each in campaign.ask(BATCH)}, campaign.predict()
            rows += [(key in suggested, (suggested.get(key) or every[key]).mean, hit[key]) for key in left]
            campaign.tell({key: hit[key] for key in suggested})
        yield 100 * len(campaign.state.hits) / len(best), time.perf_counter() - begin, *[np.nan] * 6
        table = pd.DataFrame(rows, columns=["suggested", "probability", "hits"]).dropna().assign(molecules=1)
        table["bin"] = (BINS * table["probability"]).clip(0, BINS - 1).astype(int)
        table["squares"] = (table["probability"] - table["hits"]) ** 2
        for row in table.groupby(["suggested", "bin"])[SUMS].sum().reset_index().itertuples(index=False, name=None):
            yield np.nan, np.nan, *row

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield how many hits were found, and how the probabilities compare with the shares of hits."""
        header = "player", FOUND, f"difference from {self.players[0]}", "plays", "seconds"
        plays = rows[rows[FOUND].notna()]
        for pool, part in [("all", plays), *plays.groupby("pool", sort=False)]:
            yield Table(f"{pool}: {over_pools(part)}", [header, *compare(part, FOUND, self.players)])
        for (player, suggested), part in rows[rows[FOUND].isna()].groupby(["player", "suggested"], sort=False):
            by_bin = part.groupby("bin")[SUMS].sum()
            brier, what = by_bin["squares"].sum() / by_bin["molecules"].sum(), "suggested" if suggested else "the rest"
            shares = 100 * by_bin[["probability", "hits"]].div(by_bin["molecules"], axis=0)
            cells = shares.assign(molecules=by_bin["molecules"]).map("{:.1f}".format).itertuples(index=False, name=None)
            columns = "mean probability, %", "% hits", "molecules"
            yield Table(f"{player}, {what}: Brier score {brier:.4f}, by tenths of the probability", [columns, *cells])
