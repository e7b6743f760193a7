"""Measure each pair of pools in batches, by several ways to choose; finished plays are kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.kept_rows import Row
from benchmarks.kept_tasks import do_missing
from benchmarks.pools.data.catalogue import Pool, find_pools
from benchmarks.pools.data.sources import read_molecules
from benchmarks.pools.goals.hypervolume import share_of_hypervolume
from benchmarks.pools.screening import Floats
from graph_bandit_campaign import Campaign, Goal
from graph_bandit_env import MoleculeSet

START, BATCH, SCORED = 20, 10, (60, 100)
PLAYERS = ("front", "weighted", "sum", "random")
REFERENCES = {"worst": 0.0, "median": 0.5}  # quantiles of the values of each goal


class Task(NamedTuple):
    """A way to choose molecules for two goals."""

    pair: str
    """Names of two pools, joined by a colon, whose molecules are partly the same."""
    player: str
    """One of `PLAYERS`; see `play`."""
    seed: int
    """Seed of the first measurements and of the player."""


COLUMNS = (*Task._fields, "molecules", "seconds", *(f"{name} {count}" for name in REFERENCES for count in SCORED))


def play_all(folder: Path, tasks: Sequence[Task], workers: int, out: Path | None) -> tuple[pd.DataFrame, int]:
    """Play each task that is not in `out` yet.

    Args:
        folder: folder of the tables.
        tasks: what to play.
        workers: how many processes to use.
        out: CSV file to which each row is appended at once; None: nothing is kept.

    Returns:
        A row for each finished task (`COLUMNS`), and how many failed.

    Raises:
        ValueError: if a pool or player is unknown, or the file has other columns.
    """
    for task in tasks:
        find_pair(task.pair)
        if task.player not in PLAYERS:
            raise ValueError(f"Unknown player `{task.player}`. There are {', '.join(PLAYERS)}.")
    return do_missing(partial(play_one, folder), tasks, COLUMNS, len(Task._fields), workers, out)


def find_pair(names: str) -> tuple[Pool, Pool]:
    """Return two pools by their names, as in `solubility:HLM`.

    Raises:
        ValueError: if one is unknown, or there are not two.
    """
    pools = find_pools(names.split(":"))
    if len(pools) != 2 or names.count(":") != 1:
        raise ValueError(f"Expected the names of two pools, as in `solubility:HLM`. Got `{names}`.")
    return pools[0], pools[1]


def play_one(folder: Path, pair: str, player: str, seed: int) -> list[Row]:
    """Play a task on one thread, and return its row alone."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    molecules, values = _read_pair(folder, pair)
    begin = time.perf_counter()
    with threadpool_limits(1):
        order = play(molecules, values, [_goal_of(pool) for pool in find_pair(pair)], player, seed)
    seconds = round(time.perf_counter() - begin, 1)
    scores = [
        round(100 * share_of_hypervolume(values, values[order[:count]], np.quantile(values, level, axis=0)), 4)
        for level in REFERENCES.values()
        for count in SCORED
    ]
    return [(pair, player, str(seed), float(len(molecules)), seconds, *scores)]


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


def _goal_of(pool: Pool) -> Goal:
    return Goal(pool.name, "minimize" if pool.wanted == "small" else "maximize")


@lru_cache(maxsize=1)
def _read_pair(folder: Path, pair: str) -> tuple[MoleculeSet, Floats]:
    """Return the molecules that have both values, and the values, `(K, 2)`, of which large ones are wanted."""
    first, second = (read_molecules(pool, folder) for pool in find_pair(pair))
    other = dict(zip(second.smiles, second.targets.tolist(), strict=True))
    both = np.array([k for k, smiles in enumerate(first.smiles) if smiles in other], np.int64)
    if len(both) < max(SCORED):
        raise ValueError(f"Expected at least {max(SCORED)} molecules with both values. Got {len(both)} in {pair}.")
    shared = first.take(both)
    values = np.stack([shared.targets, [other[smiles] for smiles in shared.smiles]], axis=1)
    return shared, np.asarray(values, np.float64)
