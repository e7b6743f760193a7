"""Run campaigns in which some molecules fail, and keep what was suggested."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.kept_rows import append_rows, read_rows
from benchmarks.parallel import run_in_parallel
from benchmarks.pools.data.catalogue import Pool
from benchmarks.pools.failing.causes import find_causes
from benchmarks.pools.screening import share_of_top
from graph_bandit_campaign import Campaign
from graph_bandit_env import MoleculeSet

START, BATCH, ROUNDS, TOP = 30, 20, 5, 0.05
KEY = ("pool", "cause", "learns", "seed")
COLUMNS = (*KEY, "agent", "share", "suggested", "failed", "top", "seconds")
Row = tuple[str, str, int, int, str, float, int, int, float, float]


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
    """
    kept = [] if out is None else read_rows(out, COLUMNS)
    rows: list[tuple[str | int | float, ...]] = [tuple(row) for row in kept]
    known = {(row[0], row[1], int(row[3]), row[4]) for row in rows}
    causes = {pool: find_causes(pool.name, _read(pool, folder)) for pool in pools}
    tasks = [(folder, pool, cause, agent, seed) for seed in range(seeds) for pool in pools for cause in causes[pool]]
    tasks = [task for task in tasks if (task[1].name, task[2], task[4], agent) not in known]
    failed = 0
    with closing(run_in_parallel(play_cause, tasks, workers)) as outcomes:
        for (_, pool, cause, _, seed), outcome in outcomes:
            if isinstance(outcome, Exception):
                failed += 1
                print(f"{pool.name}, {cause}, seed {seed}: {type(outcome).__name__}: {outcome}", file=sys.stderr)
                continue
            rows += outcome
            if out is not None:
                append_rows(out, COLUMNS, outcome)
            shown = ", ".join(f"{row[7]} of {row[6]} failed, {row[8]:g} % of the top" for row in outcome)
            print(f"{pool.name}, {cause}, seed {seed}: {shown}", file=sys.stderr)
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    numbers = ["learns", "seed", "share", "suggested", "failed", "top", "seconds"]
    table[numbers] = table[numbers].apply(pd.to_numeric)
    asked = table["pool"].isin([pool.name for pool in pools]) & (table["agent"] == agent) & (table["seed"] < seeds)
    return table[asked], failed


def play_cause(folder: Path, pool: Pool, cause: str, agent: str, seed: int) -> list[Row]:
    """Play a cause of a pool, without and with learning, from the same random start."""
    molecules = _read(pool, folder)
    fails = find_causes(pool.name, molecules)[cause]
    values = np.where(fails, -np.inf, molecules.targets)
    top = max(1, round(TOP * int((~fails).sum())))
    rows: list[Row] = []
    for learns in (False, True):
        begin = time.perf_counter()
        order = play(molecules, fails, agent, learns, seed)
        failed, found = fails[order[START:]], order[~fails[order]]
        numbers = (len(failed), int(failed.sum()), round(100 * share_of_top(values, found, top), 3))
        seconds = round(time.perf_counter() - begin, 2)
        rows.append((pool.name, cause, int(learns), seed, agent, round(float(fails.mean()), 4), *numbers, seconds))
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
