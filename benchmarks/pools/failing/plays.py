"""Run campaigns in which some molecules fail, and keep what was suggested."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.kept_rows import Row
from benchmarks.kept_tasks import do_missing
from benchmarks.pools.data.catalogue import Pool
from benchmarks.pools.failing.causes import find_causes
from benchmarks.pools.screening import share_of_top
from graph_bandit_campaign import Campaign
from graph_bandit_env import MoleculeSet

START, BATCH, ROUNDS, TOP = 30, 20, 5, 0.05
KEY = ("pool", "cause", "seed", "agent")
COLUMNS = (*KEY, "learns", "share", "suggested", "failed", "top", "seconds")


def play_all(
    folder: Path, pools: Sequence[Pool], agent: str, seeds: int, workers: int, out: Path | None
) -> tuple[pd.DataFrame, int]:
    """Play every cause of every pool, with and without learning from failures, where `out` does not have it yet.

    Args:
        folder: folder of the tables.
        pools: the pools.
        agent: agent that chooses.
        seeds: plays of each, from different random starts.
        workers: how many processes to use.
        out: CSV file to which the two rows of a cause and seed are appended once finished; None: nothing is kept.

    Returns:
        A table with `COLUMNS`, and how many causes could not be played.

    Raises:
        ValueError: if the file has other columns.
    """
    causes = {pool: find_causes(pool.name, _read(pool, folder)) for pool in pools}
    tasks = [
        (pool.name, cause, seed, agent, folder, pool)
        for seed in range(seeds)
        for pool in pools
        for cause in causes[pool]
    ]
    return do_missing(play_cause, tasks, COLUMNS, len(KEY), workers, out)


def play_cause(name: str, cause: str, seed: int, agent: str, folder: Path, pool: Pool) -> list[Row]:
    """Play a cause of a pool, without and with learning, from the same random start."""
    molecules = _read(pool, folder)
    fails = find_causes(name, molecules)[cause]
    values = np.where(fails, -np.inf, molecules.targets)
    top = max(1, round(TOP * int((~fails).sum())))
    rows: list[Row] = []
    for learns in (False, True):
        begin = time.perf_counter()
        order = play(molecules, fails, agent, learns, seed)
        failed, found = fails[order[START:]], order[~fails[order]]
        numbers = (len(failed), int(failed.sum()), round(100 * share_of_top(values, found, top), 3))
        seconds = round(time.perf_counter() - begin, 2)
        rows.append((name, cause, str(seed), agent, int(learns), round(float(fails.mean()), 4), *numbers, seconds))
    return rows


def play(molecules: MoleculeSet, fails: NDArray[np.bool_], agent: str, learns: bool, seed: int) -> NDArray[np.int64]:
    """Return the molecules in the order in which they were tried: 30 at random, then five batches of 20.

    Args:
        molecules: K molecules with values.
        fails: `(K,)`. Which of them fail.
        agent: agent that chooses.
        learns: whether failures teach.
        seed: seed of the start and of the campaign.
    """
    campaign = Campaign(molecules, agent, seed=seed, ignore_failures=not learns)
    order = np.random.default_rng(seed).choice(len(molecules), START, replace=False).tolist()
    place = {identifier: k for k, identifier in enumerate(molecules.ids)}
    tried: list[int] = []
    for number in range(ROUNDS + 1):
        for k in order:
            if fails[k]:
                campaign.tell_failed(molecules.ids[k])
            else:
                campaign.tell(molecules.ids[k], float(molecules.targets[k]))
        tried += order
        order = [place[suggestion.id] for suggestion in campaign.ask(BATCH)] if number < ROUNDS else []
    return np.array(tried, np.int64)


def _read(pool: Pool, folder: Path) -> MoleculeSet:
    molecules = pool.read(folder)
    if not isinstance(molecules, MoleculeSet):
        raise ValueError(f"Expected a pool of molecules. Got `{pool.name}`, which has {pool.kind}.")
    return molecules
