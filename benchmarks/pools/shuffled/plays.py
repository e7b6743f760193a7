"""Backtest pools whose values were shuffled among their molecules: whatever the verdict says then, it is luck."""

from __future__ import annotations

import contextlib
import io
import re
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

KEY = ("pool", "shuffle", "agent", "n", "starts", "rows")
COLUMNS = (*KEY, "molecules", "verdict", "interval")
VERDICTS = {"It would have helped": 1.0, "It would have done harm": -1.0, "It would not": 0.0, "Whether it": 0.0}
INTERVAL = re.compile(r"difference is [^ ]+ \(([^ ]+) to ([^ ]+)\)")  # of the ten best, and of the best 5 %


def play_shuffled(
    folder: Path, pools: Sequence[str], shuffles: int, agent: str, n: int, starts: int, rows: int, workers: int,
    out: Path | None,
) -> tuple[pd.DataFrame, int]:  # fmt: skip
    """Backtest each pool as it is (shuffle 0), and with shuffled values; see `backtest_pool`.

    Returns:
        A row for each backtest (`COLUMNS`), and how many failed.
    """
    tasks = [
        (pool.name, shuffle, agent, n, starts, rows, folder)
        for pool in find_pools(pools)
        for shuffle in range(shuffles + 1)
    ]
    return do_missing(backtest_pool, tasks, COLUMNS, len(KEY), workers, out)


def backtest_pool(name: str, shuffle: int, agent: str, n: int, starts: int, rows: int, folder: Path) -> list[Row]:
    """Backtest some molecules of a pool, and read the verdict.

    Args:
        name: name of the pool.
        shuffle: seed by which its values are shuffled; 0: they stay where they are.
        agent: agent as on the command line.
        n: how many molecules are in a batch.
        starts: how many random starts are played.
        rows: how many molecules are drawn from the pool, the same for every shuffle.
        folder: folder of the tables.

    Returns:
        One row.
    """
    (pool,) = find_pools([name])
    molecules, key = read_molecules(pool, folder), zlib.crc32(name.encode())
    molecules = molecules.take(np.random.default_rng(key).permutation(len(molecules))[:rows])
    values = molecules.targets
    if shuffle:
        values = np.random.default_rng(np.random.SeedSequence(shuffle, spawn_key=(key,))).permutation(values)
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(said):
        table, names = Path(place, "table.csv"), [f"m{k}" for k in range(len(molecules))]
        pd.DataFrame({"id": names, "smiles": molecules.smiles, "value": values}).to_csv(table, index=False)
        run_backtest(
            BacktestSettings(
                table,
                Path(place, "backtest"),
                maximize="value",
                n=(n,),
                agents=(agent,),
                baselines=(),
                starts=starts,
                id="id",
                workers=None,
            )
        )
    verdict, interval = read_verdict(said.getvalue())
    settings = (str(shuffle), agent, str(n), str(starts), str(rows))
    return [(name, *settings, float(len(molecules)), verdict, interval)]


def read_verdict(text: str) -> tuple[float, float]:
    """Read what a backtest printed.

    Returns:
        1 for help, -1 for harm, 0 for neither; and the same by the intervals over starts alone, on which verdicts
        rested before shuffles counted.

    Raises:
        ValueError: if there is no verdict.
    """
    found = [value for line in text.splitlines() for words, value in VERDICTS.items() if line.startswith(words)]
    signs = [(float(low) > 0) - (float(high) < 0) for low, high in INTERVAL.findall(text.replace("−", "-"))]
    if len(found) != 1 or not signs:
        raise ValueError(f"Expected one verdict, with the interval of its difference. Got {text!r}.")
    return found[0], float(next((sign for sign in signs if sign), 0))
