"""Backtest both halves of a pool by `graph-bandit backtest`: one makes the promise, the other shows what came."""

from __future__ import annotations

import contextlib
import io
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.kept_rows import Row
from benchmarks.kept_tasks import do_missing
from benchmarks.pools.data.catalogue import find_pools
from benchmarks.pools.data.sources import read_molecules
from graph_bandit_campaign import BacktestSettings, run_backtest
from graph_bandit_env import MoleculeSet

HALVES = ("first", "second")
RANDOM = "random"
KEY = ("pool", "split", "agent", "n", "starts", "half")
COLUMNS = (
    *KEY,
    "start",
    "molecules",
    "budget",
    "agent_found",  # of the ten best, within the budget
    "random_found",
    "agent_known",  # how many of the ten best were known, on average over the measurements after the random ones
    "random_known",
    "agent_good",  # % of the best 5 %, at least ten, within the budget
    "random_good",
)


def play_halves(
    folder: Path, pools: Sequence[str], splits: int, agent: str, n: int, starts: int, workers: int, out: Path | None
) -> tuple[pd.DataFrame, int]:
    """Backtest both halves of each pool and split; see `play_half`.

    Returns:
        A row for each start (`COLUMNS`), and how many backtests failed.
    """
    tasks = [
        (pool.name, split, agent, n, starts, half, folder)
        for pool in find_pools(pools)
        for split in range(splits)
        for half in HALVES
    ]
    return do_missing(play_half, tasks, COLUMNS, len(KEY), workers, out)


def play_half(name: str, split: int, agent: str, n: int, starts: int, half: str, folder: Path) -> list[Row]:
    """Backtest one half of a pool, of which a quarter is measured.

    Args:
        name: name of the pool.
        split: seed of the split.
        agent: agent as on the command line.
        n: how many molecules are in a batch; as many are measured first.
        starts: how many random starts are played.
        half: "first" or "second". The starts of both have different seeds.
        folder: folder of the tables.

    Returns:
        A row for each start.
    """
    (pool,) = find_pools([name])
    molecules = read_molecules(pool, folder)
    order = np.random.default_rng([split, zlib.crc32(name.encode())]).permutation(len(molecules))
    part = molecules.take(np.array_split(order, 2)[HALVES.index(half)])
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        path = Path(place, "table.csv")
        _write(part, path)
        seed = 2 * split + HALVES.index(half)
        results = run_backtest(
            BacktestSettings(
                path,
                Path(place, "backtest"),
                maximize="value",
                n=(n,),
                agents=(agent,),
                baselines=(),
                starts=starts,
                seed=seed,
                id="id",
                workers=None,
            )
        )
    key = (name, str(split), agent, str(n), str(starts), half)
    good = max(10, round(0.05 * len(part)))  # as in the backtest
    threshold = np.partition(part.targets, -good)[-good]
    rows: list[Row] = []
    for start, played in results.groupby("start"):
        budget, scores = int(played["measurement"].max()), []
        for player in (agent, RANDOM):
            own = played[played["player"] == player].sort_values("measurement")
            found = own["top_ten_found"].to_numpy(np.float64)
            best = min(good, int((own["value"] >= threshold).sum()))
            scores.append((found[-1], round(found[max(n, 10) :].mean(), 6), round(100 * best / good, 4)))
        numbers = (int(str(start)), len(part), budget, *(score for both in zip(*scores, strict=True) for score in both))
        rows.append((*key, *map(float, numbers)))
    return rows


def _write(molecules: MoleculeSet, path: Path) -> None:
    names = [f"m{k}" for k in range(len(molecules))]
    pd.DataFrame({"id": names, "smiles": molecules.smiles, "value": molecules.targets}).to_csv(path, index=False)
