"""Count the verdicts of backtests on values that mean nothing."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.screening import Floats
from benchmarks.pools.study import Cells, Study, Table, read_molecules
from graph_bandit_campaign import BacktestSettings, run_backtest
from graph_bandit_env import MoleculeSet

AGENT = "molecule-ucb"
VERDICTS = {"It would have helped": 1.0, "It would have done harm": -1.0, "It would not": 0.0, "Whether it": 0.0}
WORDS = {1.0: "helped", 0.0: "cannot be told", -1.0: "harm"}
INTERVAL = re.compile(r"difference is [^ ]+ \(([^ ]+) to ([^ ]+)\)")  # of the ten best, and of the best 5 %


@dataclass(frozen=True, kw_only=True)
class ShuffledStudy(Study):
    """Count the verdicts of backtests on values that were shuffled among the molecules: each of them is false.

    At most 640 molecules of a pool are measured in batches of 8, from ten starts.
    """

    pools: tuple[str, ...] = ("ESOL", "photoswitches", "CHEMBL2047_EC50")
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches)."""
    shuffles: int = 20
    """How many shuffles of each pool."""

    key = ("pool", "shuffle")
    scores = ("molecules", "verdict", "interval")

    def tasks(self) -> Iterator[tuple[str, int]]:
        """Yield each pool as it is (shuffle 0), and with shuffled values."""
        for pool in find_pools(self.pools):
            yield from ((pool.name, shuffle) for shuffle in range(self.shuffles + 1))

    def play(self, name: str, shuffle: int) -> Iterator[tuple[float, ...]]:
        """Backtest the same molecules of a pool, and read the verdict."""
        molecules, key = read_molecules(name, self.data), zlib.crc32(name.encode())
        molecules = molecules.take(np.random.default_rng(key).permutation(len(molecules))[:640])
        values = molecules.targets
        if shuffle:
            values = np.random.default_rng(np.random.SeedSequence(shuffle, spawn_key=(key,))).permutation(values)
        yield len(molecules), *read_verdict(backtest(molecules, values))

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield a table with the verdict on each pool as it is, and how many there were on shuffled values."""
        cells: list[Cells] = [
            ("pool", "molecules", "as it is", "shuffles", "verdicts on these", "by intervals over starts alone")
        ]
        for pool, part in rows.groupby("pool", sort=False):
            true, null = (part[(part["shuffle"] == "0") == is_true] for is_true in (True, False))
            counts = [f"{(null[name] == 1).sum()} helped, {(null[name] == -1).sum()} harm" for name in self.scores[1:]]
            verdict = ", ".join(WORDS[value] for value in true["verdict"])
            cells.append((str(pool), f"{part['molecules'].iloc[0]:.0f}", verdict, str(len(null)), *counts))
        yield Table("Verdicts of backtests on shuffled values, which are all false", cells)


def backtest(molecules: MoleculeSet, values: Floats) -> str:
    """Run `graph-bandit backtest` on a table of molecules, and return what it printed."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
        table, ids = Path(folder, "table.csv"), [f"m{k}" for k in range(len(molecules))]
        pd.DataFrame({"id": ids, "smiles": molecules.smiles, "value": values}).to_csv(table, index=False)
        settings = BacktestSettings(
            table, Path(folder, "backtest"), maximize="value", n=(8,), agents=(AGENT,), baselines=(),
            starts=10, seed=0, id="id", workers=None,
        )  # fmt: skip
        run_backtest(settings)
    return said.getvalue()


def read_verdict(text: str) -> tuple[float, float]:
    """Read what a backtest printed.

    Returns:
        1 for help, -1 for harm, 0 for neither; and the same by the intervals over starts alone, on which verdicts
        rested before shuffles counted.

    Raises:
        ValueError: if there is no verdict.
    """
    verdicts = [value for line in text.splitlines() for words, value in VERDICTS.items() if line.startswith(words)]
    signs = [(float(low) > 0) - (float(high) < 0) for low, high in INTERVAL.findall(text.replace("−", "-"))]
    if len(verdicts) != 1 or not signs:
        raise ValueError(f"Expected one verdict, with the interval of its difference. Got {text!r}.")
    return verdicts[0], float(next((sign for sign in signs if sign), 0))
