"""Measure pools for two goals, and compare the hypervolume of what was measured with that of the pool."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.pools.catalogue import Pool, find_pools
from benchmarks.pools.screening import Floats
from benchmarks.pools.study import Cells, Study, Table, interval, read_molecules
from graph_bandit_campaign import Campaign, Goal
from graph_bandit_env import MoleculeSet

START, BATCH, SCORED = 20, 10, (60, 100)
PLAYERS = ("front", "weighted", "sum", "random")
REFERENCES = {"worst": 0.0, "median": 0.5}  # quantiles of the values of each goal
AGAINST = "front"


@dataclass(frozen=True, kw_only=True)
class GoalsStudy(Study):
    """Measure pools for two goals, and compare the hypervolume of what was measured with that of the pool.

    20 molecules are measured at random, then eight batches of 10.
    """

    pairs: tuple[str, ...] = ("solubility:HLM",)
    """Pairs of pools whose molecules are partly the same. Those that have both values are played."""
    players: tuple[str, ...] = PLAYERS
    """front: a campaign with both goals; weighted: the same with equal weights; sum: a campaign with one goal, the sum
    of the values in standard deviations of the first results; random."""
    seeds: int = 10
    """Plays of each player on a pair, each from another random start."""

    key = ("pair", "player", "seed")
    scores = ("molecules", "seconds", *(f"{name} {count}" for name in REFERENCES for count in (60, 100)))

    def __post_init__(self) -> None:
        super().__post_init__()
        for pair in self.pairs:
            find_pair(pair)
        if unknown := set(self.players) - {*PLAYERS}:
            raise ValueError(f"Unknown player `{unknown.pop()}`. There are {', '.join(PLAYERS)}.")

    def tasks(self) -> Iterator[tuple[str, str, int]]:
        """Yield every player and seed on every pair."""
        for pair in self.pairs:
            yield from ((pair, player, seed) for seed in range(self.seeds) for player in self.players)

    def play(self, pair: str, player: str, seed: int) -> Iterator[tuple[float, ...]]:
        """Play a pair, and return the shares of the hypervolume that were found after 60 and 100 measurements."""
        molecules, values = read_pair(pair, self.data)
        goals = [Goal(pool.name, "minimize" if pool.wanted == "small" else "maximize") for pool in find_pair(pair)]
        begin = time.perf_counter()
        order = play(molecules, values, goals, player, seed)
        seconds = time.perf_counter() - begin
        shares = (
            100 * share_of_hypervolume(values, values[order[:count]], np.quantile(values, level, axis=0))
            for level in REFERENCES.values()
            for count in SCORED
        )
        yield len(molecules), seconds, *shares

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield two tables for each pair, one for each reference; differences are those of equal starts."""
        header = [text for count in (60, 100) for text in (f"% after {count}", f"{AGAINST} less it")]
        for pair, plays in rows.groupby("pair", sort=False):
            title = f"{pair}, {plays['molecules'].iloc[0]:,.0f} molecules: % of the hypervolume of the pool"
            for reference in REFERENCES:
                cells = _rows_of(plays, [f"{reference} {count}" for count in (60, 100)])
                described = f"{title} from the {reference} values, with 95 % intervals over starts"
                yield Table(described, [("player", *header, "plays", "seconds a play"), *cells])


def find_pair(names: str) -> tuple[Pool, Pool]:
    """Return two pools by their names, as in `solubility:HLM`.

    Raises:
        ValueError: if one is unknown, or there are not two.
    """
    pools = find_pools(names.split(":"))
    if len(pools) != 2 or names.count(":") != 1:
        raise ValueError(f"Expected the names of two pools, as in `solubility:HLM`. Got `{names}`.")
    return pools[0], pools[1]


def play(molecules: MoleculeSet, values: Floats, goals: Sequence[Goal], player: str, seed: int) -> list[int]:
    """Return the molecules in the order in which they were measured: 20 at random, then batches of 10.

    Args:
        molecules: K molecules.
        values: `(K, 2)`. Large ones are wanted.
        goals: the two goals; what a campaign is told of one that is minimized is minus the value.
        player: "front" a campaign with both goals, "weighted" the same with equal weights, "sum" a campaign with one
            goal, the sum of the values in standard deviations of the first results, "random" by chance.
        seed: seed of the start, the same for every player, and of the player.
    """
    generator = np.random.default_rng(seed)
    order: list[int] = generator.permutation(len(molecules))[: START if player != "random" else max(SCORED)].tolist()
    if player == "random":
        return order
    first = values[order]
    told = values * [goal.sign for goal in goals]
    sums = ((values - first.mean(axis=0)) / first.std(axis=0)).sum(axis=1)
    weighed = [Goal(goal.name, goal.aim, weight=1.0 if player == "weighted" else None) for goal in goals]
    campaign = Campaign(molecules, seed=seed, goals=None if player == "sum" else weighed)
    place = {identifier: k for k, identifier in enumerate(molecules.ids)}
    new = order
    while True:
        if player == "sum":
            campaign.tell_many({molecules.ids[k]: float(sums[k]) for k in new})
        else:
            for goal, column in zip(goals, told.T, strict=True):
                campaign.tell_many({molecules.ids[k]: float(column[k]) for k in new}, goal=goal.name)
        if len(order) >= max(SCORED):
            return order
        new = [place[suggestion.id] for suggestion in campaign.ask(BATCH)]
        order = [*order, *new]


def hypervolume(values: Floats, reference: Floats) -> float:
    """Return the area between a reference and the front of some points, as the sum of the steps of a staircase.

        area of the union over points v of [r_1, v_1] x [r_2, v_2]

    Args:
        values: `(n, 2)`, large ones are wanted. Points that do not beat the reference in both count nothing.
        reference: `(2,)`, r.
    """
    gains = values - reference
    gains = gains[(gains > 0).all(axis=1)]
    area, height = 0.0, 0.0
    for width, top in gains[np.lexsort(-gains.T[::-1])].tolist():  # the widest first
        area += width * max(top - height, 0.0)
        height = max(height, top)
    return area


def share_of_hypervolume(values: Floats, measured: Floats, reference: Floats) -> float:
    """Return the hypervolume of what was measured as a share of that of the pool; units of the values do not matter.

    Args:
        values: `(K, 2)`, values of the pool.
        measured: `(n, 2)`, those that were measured.
        reference: `(2,)`. At least one value of the pool beats it in both.
    """
    return hypervolume(measured, reference) / hypervolume(values, reference)


@lru_cache(maxsize=1)
def read_pair(pair: str, folder: Path) -> tuple[MoleculeSet, Floats]:
    """Return the molecules that have both values, and the values, `(K, 2)`, of which large ones are wanted."""
    first, second = (read_molecules(pool.name, folder) for pool in find_pair(pair))
    other = dict(zip(second.smiles, second.targets.tolist(), strict=True))
    both = np.array([k for k, smiles in enumerate(first.smiles) if smiles in other], np.int64)
    if len(both) < max(SCORED):
        raise ValueError(f"Expected at least {max(SCORED)} molecules with both values. Got {len(both)} in {pair}.")
    shared = first.take(both)
    values = np.stack([shared.targets, [other[smiles] for smiles in shared.smiles]], axis=1)
    return shared, np.asarray(values, np.float64)


def _rows_of(plays: pd.DataFrame, names: Sequence[str]) -> Iterator[Cells]:
    front = plays[plays["player"] == AGAINST].set_index("seed")
    for player, own in plays.groupby("player", sort=False):
        cells = []
        for name in names:
            values = own.set_index("seed")[name]
            more = "" if player == AGAINST else interval(front[name].sub(values).dropna(), "+.1f")
            cells += [interval(values), more]
        yield str(player), *cells, str(len(own)), f"{own['seconds'].mean():.0f}"
