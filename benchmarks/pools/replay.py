"""Find the best molecules of many pools, each measured by the same plan."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.players import make_player
from benchmarks.pools.screening import Floats, Indices, Plan, play, share_of_top, share_of_way, simple_regret
from benchmarks.pools.study import Cells, Study, Table, interval_over_pools, over_pools, read_pool
from graph_bandit_env import GraphPool

SHARES = (1, 2, 5)  # percent of the pool that are its top
TOPS = tuple(f"% of the top {share} %" for share in SHARES)
WAY, FOUND, REGRET = "% of the way", "% optimum found", "mean simple regret (sd)"
SCORES = (*TOPS, WAY, FOUND, REGRET)
PLANS: dict[str, tuple[Plan, Cells, Cells]] = {  # with the scores that have a table, and the pools if none are named
    "docking": (Plan(100, 100, 5), TOPS[:1], ("docking-1",)),  # as MolPAL screens [Graff et al. 2021]
    "affinity": (Plan(60, 30, 10), TOPS[1:], ("affinity",)),  # [Gorantla et al. 2024]
    "zinc": (Plan(10, 5, 18), (WAY, TOPS[0], FOUND), ("zinc",)),
    "chembl": (Plan(30, 20, 5), (TOPS[2], WAY), ("chembl",)),
    "peers": (
        Plan(10, 10, 9),
        (WAY, FOUND, TOPS[1]),
        ("ESOL", "switches", "CHEMBL4005_Ki", "CHEMBL1862_Ki", "CHEMBL2047_EC50"),
    ),
    "sequential": (Plan(10, 1, 40), (WAY, FOUND, REGRET), ("esol", "switches", "adme", "zinc")),
}


def plan_of(text: str) -> tuple[Plan, Cells, Cells]:
    """Return a plan by its name, or as it is written.

    Raises:
        ValueError: if it is neither.
    """
    if text in PLANS:
        return PLANS[text]
    if not (found := re.fullmatch(r"(\d+)\+(\d+)x(\d+)", text)):
        raise ValueError(f"Expected START+BATCHxROUNDS, or {', '.join(PLANS)}. Got `{text}`.")
    return Plan(*map(int, found.groups())), SCORES[:4], ()


@dataclass(frozen=True, kw_only=True)
class ReplayStudy(Study):
    """Find the best molecules of many pools, each measured by the same plan."""

    plan: str
    """How each pool is measured: START+BATCHxROUNDS, or a name: "docking" 100 at random, then 5 batches of 100;
    "affinity" 60, then 10 of 30; "zinc" 10, then 18 of 5; "chembl" 30, then 5 of 20; "peers" 10, then 9 of 10;
    "sequential" 10, then 40 one at a time."""
    pools: tuple[str, ...] | None = None
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches, reactions), or docking-D for 10,000
    molecules that are drawn by the seed D; None: the pools for which the plan was made."""
    players: tuple[str, ...] = ("forest-greedy", "tanimoto-greedy", "random")
    """forest-, tanimoto- a property such as logp-, or (of slots) onehot-, with greedy, ucb or ei; tpe (Optuna)
    or baybe, with their defaults; agents by name, with settings after a colon. All are compared with the first."""
    seeds: int = 10
    """Plays of each player on a pool, each from another random start."""
    by_pool: bool = False
    """Where there are several pools, print a row for each of them, too."""

    key = ("pool", "plan", "player", "seed")
    scores = ("seconds", *SCORES)

    def __post_init__(self) -> None:
        super().__post_init__()
        plan_of(self.plan)
        for player in self.players:
            make_player(player)  # refuses unknown names before anything is played

    def tasks(self) -> Iterator[tuple[str, str, str, int]]:
        """Yield every player and seed on every pool."""
        for pool in find_pools(self.pools or plan_of(self.plan)[2]):
            for seed in range(self.seeds):
                yield from ((pool.name, self.plan, player, seed) for player in self.players)

    def play(self, name: str, plan: str, player: str, seed: int) -> Iterator[tuple[float, ...]]:
        """Play a pool from one start; the time is that of the player."""
        molecules, steps, chooser = read_shuffled(name, self.data), plan_of(plan)[0], make_player(player)
        begin = time.perf_counter()
        order = play(molecules, steps, chooser, seed)
        yield time.perf_counter() - begin, *score(molecules.targets, order, steps.start)

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield a table for each score, for computed and measured values apart."""
        kinds = {pool.name: pool.kind for pool in find_pools([*rows["pool"].unique()])}
        for kind, plays in rows.groupby(rows["pool"].map(kinds), sort=False):
            for name in plan_of(self.plan)[1]:
                difference = f"difference from {self.players[0]} [95 % interval]"
                head = "player", f"{name} [95 % interval]", difference, "plays"
                rows_of = partial(compare, name=name, players=self.players)
                title = f"{kind}: {name}, {over_pools(plays)}"
                yield Table(title, [(*head, "seconds a play"), *rows_of(plays)])
                if self.by_pool and plays["pool"].nunique() > 1:
                    by_pool = plays.groupby("pool", sort=False)
                    alone = [(str(pool), *row[:4]) for pool, part in by_pool for row in rows_of(part)]
                    yield Table(f"{kind}, by pool: {name}", [("pool", *head), *alone])


def compare(plays: pd.DataFrame, name: str, players: Sequence[str]) -> Iterator[Cells]:
    """Yield a row for each player; differences from the first are those of starts that both have played on a pool."""
    form = ".2f" if name == REGRET else ".1f"
    plays = plays.set_index(["pool", "seed"])
    first = plays[plays["player"] == players[0]][name]
    for player in (player for player in players if (plays["player"] == player).any()):
        own = plays[plays["player"] == player]
        less = own[name].sub(first).dropna() if player != players[0] else first[:0]
        cells = interval_over_pools(own[name], form), interval_over_pools(less, f"+{form}")
        yield player, *cells, str(len(own)), f"{own['seconds'].mean():.1f}"


def score(values: Floats, order: Indices, start: int) -> tuple[float, ...]:
    """Return the `SCORES` of a play; tops are counted as in `share_of_top`, deviations are those of the whole pool."""
    short = simple_regret(values, order)[start:]
    tops = (max(1, round(share * len(values) / 100)) for share in SHARES)
    shares = (100 * share_of_top(values, order, top) for top in tops)
    regret = float(short.mean() / values.std())
    return *shares, 100 * share_of_way(values, order, start), 100.0 * bool(short[-1] == 0), regret


@lru_cache(maxsize=1)
def read_shuffled(name: str, folder: Path) -> GraphPool:
    """Read the molecules of a pool, in an order drawn by its name.

    Some tables are sorted by value, which a player that breaks ties by index would profit from. Pools of equal size do
    not start with the same rows either. Molecules that were drawn from a larger pool are in random order as they are.
    """
    molecules = read_pool(name, folder)
    (pool,) = find_pools([name])
    if pool.draw is not None:
        return molecules
    return molecules.take(np.random.default_rng(zlib.crc32(pool.molecules.encode())).permutation(len(molecules)))
