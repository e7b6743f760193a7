"""Compare what backtests promise with what comes, and count their verdicts on values that mean nothing."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.screening import Floats
from benchmarks.pools.study import Cells, Study, Table, interval, read_molecules
from graph_bandit_campaign import BacktestSettings, run_backtest
from graph_bandit_env import MoleculeSet
from graph_bandit_lab.analysis import bootstrap_interval

AGENT, RANDOM = "molecule-ucb", "random"
HALVES = {"first": "promised", "second": "came"}
BATCH, STARTS = 20, 5  # of backtests of halves
SCORES = {  # more than random choice
    "known": "of the ten best, known on average",
    "found": "of the ten best, found within the budget",
    "good": "% of the best 5 %, found within the budget",
}
DRAWS = 4000  # of the bootstrap
# the first ten of the group `chembl` with at most 2,500 molecules
NAMES = "1862_Ki 1871_Ki 2034_Ki 2047_EC50 2147_Ki 218_EC50 219_Ki 228_Ki 231_Ki 237_EC50"
VERDICTS = {"It would have helped": 1.0, "It would have done harm": -1.0, "It would not": 0.0, "Whether it": 0.0}
WORDS = {1.0: "helped", 0.0: "cannot be told", -1.0: "harm"}
INTERVAL = re.compile(r"difference is [^ ]+ \(([^ ]+) to ([^ ]+)\)")  # of the ten best, and of the best 5 %


@dataclass(frozen=True, kw_only=True)
class HalvesStudy(Study):
    """Compare what a backtest of one half of a pool promises with what the other half then gives.

    A quarter of a half is measured, 20 molecules at a time, from five starts.
    """

    pools: tuple[str, ...] = tuple(f"CHEMBL{name}" for name in NAMES.split())
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches)."""
    splits: int = 2
    """How often each pool is split in two at random."""

    key = ("pool", "split", "half")
    scores = (
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

    def tasks(self) -> Iterator[tuple[str, int, str]]:
        """Yield both halves of each pool and split."""
        for pool in find_pools(self.pools):
            yield from ((pool.name, split, half) for split in range(self.splits) for half in HALVES)

    def play(self, name: str, split: int, half: str) -> Iterator[tuple[float, ...]]:
        """Backtest one half of a pool, and yield a row for each start; both halves have starts of their own."""
        molecules, number = read_molecules(name, self.data), [*HALVES].index(half)
        order = np.random.default_rng([split, zlib.crc32(name.encode())]).permutation(len(molecules))
        part = molecules.take(np.array_split(order, 2)[number])
        results, _ = backtest(part, part.targets, BATCH, STARTS, seed=2 * split + number)
        good = max(10, round(0.05 * len(part)))  # as in the backtest
        threshold = np.partition(part.targets, -good)[-good]
        for start, played in results.groupby("start"):
            scores = []
            for player in (AGENT, RANDOM):
                own = played[played["player"] == player].sort_values("measurement")
                found = own["top_ten_found"].to_numpy(np.float64)
                best = min(good, int((own["value"] >= threshold).sum()))
                scores.append((found[-1], found[max(BATCH, 10) :].mean(), 100 * best / good))
            of_both = (each for both in zip(*scores, strict=True) for each in both)
            yield int(str(start)), len(part), int(played["measurement"].max()), *of_both

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield a table of the pools for each score, and one of the least-squares lines."""
        lines: list[Cells] = [
            ("more than random choice", "promised", "came", "came in the interval promised", "slope [over pools]",
             "correlation")
        ]  # fmt: skip
        for score, name in SCORES.items():
            pairs = pairs_of(rows, score)
            cells = [
                (row["pool"], row["split"], str(row["molecules"]), row["promised_shown"], row["came_shown"])
                for row in pairs.to_dict("records")
            ]
            header = ("pool", "split", "molecules of a half", "promised [over starts]", "came")
            yield Table(f"More than random choice: {name}", [header, *cells])
            if pairs["pool"].nunique() > 2:
                line = fit_line(pairs)
                ends = f"{line.slope:.2f} [{line.low:.2f}, {line.high:.2f}]"
                inside = pairs["came"].between(pairs["promised_low"], pairs["promised_high"]).sum()
                means = (f"{pairs[half].mean():+.2f}" for half in ("promised", "came"))
                lines.append((name, *means, f"{inside} of {len(pairs)}", ends, f"{line.correlation:.2f}"))
        yield Table(f"What came against what was promised, {len(pairs)} pairs of halves", lines)


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
        _, said = backtest(molecules, values, batch=8, starts=10, seed=0)
        yield len(molecules), *read_verdict(said)

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


def backtest(molecules: MoleculeSet, values: Floats, batch: int, starts: int, seed: int) -> tuple[pd.DataFrame, str]:
    """Run `graph-bandit backtest` on a table of molecules, and return its results and what it printed."""
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()) as said:
        table, ids = Path(place, "table.csv"), [f"m{k}" for k in range(len(molecules))]
        pd.DataFrame({"id": ids, "smiles": molecules.smiles, "value": values}).to_csv(table, index=False)
        settings = BacktestSettings(
            table, Path(place, "backtest"), maximize="value", n=(batch,), agents=(AGENT,), baselines=(),
            starts=starts, seed=seed, id="id", workers=None,
        )  # fmt: skip
        return run_backtest(settings), said.getvalue()


class Line(NamedTuple):
    """The least-squares line through what came, as a function of what was promised."""

    slope: float
    low: float
    """Lower bound of the 95 % interval of the slope: a bootstrap that draws whole pools."""
    high: float
    correlation: float


def pairs_of(starts: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return a row for each pool and split: what was promised and came, with 95 % intervals over starts.

    Args:
        starts: a row for each start.
        score: key of `SCORES`.
    """
    more = starts.assign(more=starts[f"agent_{score}"] - starts[f"random_{score}"])
    rows = []
    for (pool, split), played in more.groupby(["pool", "split"], sort=False):
        row: dict[str, object] = {"pool": pool, "split": split, "molecules": int(played["molecules"].min())}
        for half, name in HALVES.items():
            values = played[played["half"] == half]["more"].to_numpy(np.float64)
            if len(values):
                row |= {name: values.mean(), f"{name}_shown": interval(values, "+.2f")}
                row[f"{name}_low"], row[f"{name}_high"] = bootstrap_interval(values)
        rows.append(row)
    return pd.DataFrame(rows).dropna()


def fit_line(pairs: pd.DataFrame) -> Line:
    """Return the line, and the interval of its slope.

    Args:
        pairs: the table of `pairs_of`, of at least two pools.
    """
    promised, came = pairs["promised"].to_numpy(np.float64), pairs["came"].to_numpy(np.float64)
    names, unit = np.unique(pairs["pool"].to_numpy(str), return_inverse=True)
    drawn = np.random.default_rng(0).multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)[:, unit]
    slopes = [_slope(promised, came, weights.astype(np.float64)) for weights in drawn]
    low, high = np.nanquantile(slopes, [0.025, 0.975])
    slope = _slope(promised, came, np.ones(len(pairs)))
    return Line(slope, float(low), float(high), float(np.corrcoef(promised, came)[0, 1]))


def _slope(promised: Floats, came: Floats, weights: Floats) -> float:
    """Return the slope of the weighted least-squares line; NaN if all promises are equal."""
    if np.ptp(promised[weights > 0]) == 0:
        return np.nan
    centred = promised - np.average(promised, weights=weights)
    return float((weights * centred * came).sum() / (weights * centred**2).sum())


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
