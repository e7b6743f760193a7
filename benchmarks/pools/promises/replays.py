"""Replay campaigns on pools whose values are known, and keep what was promised of each suggestion and what came."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from agents.molecule import MoleculeAgent
from benchmarks.kept_rows import Row
from benchmarks.kept_tasks import do_missing
from benchmarks.pools.data.catalogue import find_pools
from benchmarks.pools.data.sources import read_molecules
from graph_bandit_campaign import Campaign

KEY = ("pool", "start", "results", "size", "rounds")
COLUMNS = (
    *KEY,
    "round",
    "measured",  # how many results there were before the batch
    "mean",  # of the target, as the model predicts it; so the next one
    "spread",  # standard deviation of the target of one result, with noise
    "came",  # target of the result
    "beat",  # 1 if the result beats the best so far
    "plain_low",  # bounds of the interval as `Campaign.predict` has them, in standard deviations of the pool
    "plain_high",
    "plain_probability",
    "low",  # as `Campaign.ask` says it
    "high",
    "probability",
    "value",  # the result, in standard deviations of the pool
)


def replay_all(
    folder: Path,
    pools: Sequence[str],
    starts: int,
    results: Sequence[int],
    batches: Sequence[tuple[int, int]],
    workers: int,
    out: Path | None,
) -> tuple[pd.DataFrame, int]:
    """Replay each pool from each start; see `replay_one`.

    Args:
        folder: folder of the tables.
        pools: names of pools and groups.
        starts: replays of each pool, from other random molecules.
        results: how many molecules are measured at random.
        batches: sizes of batches, and how many rounds there are of each.
        workers: processes.
        out: file of finished replays.

    Returns:
        A row for each suggestion (`COLUMNS`), and how many replays failed.
    """
    tasks = [
        (pool.name, start, count, size, rounds, folder)
        for start in range(starts)
        for pool in find_pools(pools)
        for count in results
        for size, rounds in batches
    ]
    return do_missing(replay_one, tasks, COLUMNS, len(KEY), workers, out)


def replay_one(name: str, start: int, results: int, size: int, rounds: int, folder: Path) -> list[Row]:
    """Replay a campaign: molecules at random, then batches by the default agent, as `suggest` chooses them.

    Args:
        name: name of the pool.
        start: seed of the random molecules and of the campaign.
        results: how many molecules are measured at random.
        size: how many molecules are in a batch.
        rounds: how many batches.
        folder: folder of the tables.

    Returns:
        A row for each suggestion, in the order in which they were made.
    """
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    (pool,) = find_pools([name])
    molecules = read_molecules(pool, folder)
    order = np.random.default_rng([start, zlib.crc32(name.encode())]).permutation(len(molecules))
    molecules = molecules.take(order)
    value_of = dict(zip(molecules.ids, molecules.targets.tolist(), strict=True))
    place_of, unit = {key: k for k, key in enumerate(molecules.ids)}, float(molecules.targets.std())
    campaign = Campaign(molecules, maximize=True, seed=start)
    campaign.tell_many({key: value_of[key] for key in molecules.ids[:results]})
    key, rows = (name, *map(str, (start, results, size, rounds))), list[Row]()
    with threadpool_limits(1):
        for number in range(1, rounds + 1):
            measured, best = len(campaign.state.measured), campaign.best
            suggested = campaign.ask(size)
            agent = campaign.model()
            if best is None or not isinstance(agent, MoleculeAgent):
                raise TypeError(f"Expected a `molecule-` agent with results. Got {type(agent).__name__}.")
            came = np.array([value_of[each.id] for each in suggested])
            plain = campaign.predict()
            told = [(each.low, each.high, each.probability) for each in suggested]
            if None in told[0]:
                raise ValueError(f"Expected predictions on {name}. Its first {results} values are equal.")
            untold = [(plain[each.id].low, plain[each.id].high, plain[each.id].probability) for each in suggested]
            index = torch.tensor([place_of[each.id] for each in suggested])
            mean, variance = agent.posterior.mean_and_variance(index)
            columns = (
                mean.numpy(),
                (variance + agent.result_noise).sqrt().numpy(),
                agent.targets.of(torch.from_numpy(came)).numpy(),
                (came > best).astype(np.float64),
                *(np.array(untold, np.float64) / [unit, unit, 1]).T,
                *(np.array(told, np.float64) / [unit, unit, 1]).T,
                came / unit,
            )
            rows += [(*key, float(number), float(measured), *map(rounded, row)) for row in zip(*columns, strict=True)]
            campaign.tell_many(dict(zip([each.id for each in suggested], came.tolist(), strict=True)))
    return rows


def rounded(number: float) -> float:
    """Return a number with six digits, for a file."""
    return float(f"{number:.6g}")
