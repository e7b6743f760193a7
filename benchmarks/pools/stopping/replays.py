"""Replay campaigns on pools whose values are known, and keep what each round promised and what came."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.kept_rows import Row
from benchmarks.kept_tasks import do_missing
from benchmarks.pools.data.catalogue import find_pools
from benchmarks.pools.data.sources import read_molecules
from graph_bandit_campaign import Campaign

START, TOP = 30, 10
KEY = ("pool", "start", "size", "most")
COLUMNS = (
    *KEY,
    "round",
    "molecules",
    "measured",
    "better",  # as `Outlook` has it before the batch is measured, as are the next two
    "batch",
    "gain",  # in standard deviations of the pool, as are the next two
    "came",  # the best of the batch less the best so far
    "regret",  # the best of the pool less the best so far
    "found",  # how many of the ten best
)


def replay_all(
    folder: Path, pools: Sequence[str], starts: int, size: int, most: float, workers: int, out: Path | None
) -> tuple[pd.DataFrame, int]:
    """Replay each pool from each start; see `replay_one`.

    Returns:
        A row for each round (`COLUMNS`), and how many replays failed.
    """
    tasks = [(pool.name, start, size, most, folder) for pool in find_pools(pools) for start in range(starts)]
    return do_missing(replay_one, tasks, COLUMNS, len(KEY), workers, out)


def replay_one(name: str, start: int, size: int, most: float, folder: Path) -> list[Row]:
    """Replay a campaign: 30 molecules at random, then batches by the default agent, as `suggest` chooses them.

    Args:
        name: name of the pool.
        start: seed of the random molecules and of the campaign.
        size: how many molecules are in a batch.
        most: the replay ends when this share of the pool is measured.
        folder: folder of the tables.

    Returns:
        A row for each round, made before its batch was measured.
    """
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    (pool,) = find_pools([name])
    molecules = read_molecules(pool, folder)
    order = np.random.default_rng([start, zlib.crc32(name.encode())]).permutation(len(molecules))
    molecules = molecules.take(order)
    values = molecules.targets
    value_of = dict(zip(molecules.ids, values.tolist(), strict=True))
    unit, largest, tenth = values.std(), values.max(), np.partition(values, -TOP)[-TOP]
    campaign = Campaign(molecules, maximize=True, seed=start)
    campaign.tell_many({key: value_of[key] for key in molecules.ids[:START]})
    rows: list[Row] = []
    with threadpool_limits(1):
        while len(campaign.state.measured) + size <= most * len(values):
            known = np.array([measurement.value for measurement in campaign.state.measured])
            suggested = campaign.ask(size)
            outlook = campaign.outlook()
            if outlook is None:
                raise ValueError(f"Expected an outlook on {name}. The first {START} values are equal.")
            came = {suggestion.id: value_of[suggestion.id] for suggestion in suggested}
            gains = (outlook.gain, max(came.values()) - known.max(), largest - known.max())
            told, in_units = (outlook.better, outlook.batch), (round(float(g / unit), 6) for g in gains)
            counts = map(float, (len(rows) + 1, len(values), len(known)))
            found = float(min(TOP, (known >= tenth).sum()))
            rows.append((name, str(start), str(size), str(most), *counts, *told, *in_units, found))
            campaign.tell_many(came)
    return rows
