"""Measure rounds on prepared pools.

    python -m benchmarks.pools.streamed rounds --pools FOLDER FOLDER --measured 300 2000 --markdown
    python -m benchmarks.pools.streamed rounds --pools FOLDER --minimize tpsa --require "heavy_atoms<30" --markdown
    python -m benchmarks.pools.streamed search --pool FOLDER --markdown
    python -m benchmarks.pools.streamed paper --pool FOLDER --markdown
    python -m benchmarks.pools.streamed equal --pools TABLE FOLDER FOLDER --markdown

The first suggests from each pool with so many results, in a process of its own, and fits how time grows. The second
plays rounds, and counts how many of the best molecules were found, by a `molecule-` agent and by a random forest on the
same fingerprints. The third times one core, and extrapolates to more molecules and cores. The fourth compares the
suggestions of a table in memory and of pools prepared from it in other parts. `python -m benchmarks.pools.million`
makes the pools.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from numpy.typing import NDArray

from benchmarks.pools.streamed.command import measure
from benchmarks.pools.streamed.equal import EqualSettings
from benchmarks.pools.streamed.forest import ForestRounds
from benchmarks.pools.streamed.paper import make_rater, measure_rates
from benchmarks.pools.streamed.values import Values
from graph_bandit_lab import count_cores
from graph_bandit_lab.reports import print_columns

Row = tuple[str, ...]
Places = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class RoundsSettings:
    """Time a round on each pool, with each number of results."""

    pools: tuple[Path, ...]
    """Folders that `graph-bandit prepare` made."""
    measured: tuple[int, ...] = (300, 2000)
    """How many molecules have results."""
    column: str = "logp"
    """Column of the table that is measured, of which large values are wanted."""
    minimize: tuple[str, ...] = ()
    """Further columns that are measured, of which small values are wanted."""
    require: tuple[str, ...] = ()
    """Limits on what is suggested, as of `suggest`."""
    n: int = 8
    """How many molecules to suggest."""
    workers: int = 0
    """Processes; 0: one for each core."""
    markdown: bool = False
    """Print a table of Markdown."""

    def run(self) -> list[Row]:
        """Return a row for each pool and number of results, then the exponents."""
        rows: list[Row] = [("molecules", "results", "seconds", "memory (GB)")]
        costs: dict[tuple[int, int], float] = {}
        for pool in self.pools:
            values = Values(pool, self.column, *self.minimize)
            for count in self.measured:
                with tempfile.TemporaryDirectory() as name:
                    results, out = Path(name, "results.csv"), Path(name, "suggestions.csv")
                    values.write(results, values.draw(count, seed=0).tolist())
                    command = ["suggest", str(pool), "--measured", str(results), "--maximize", self.column]
                    command += [part for name in self.minimize for part in ("--minimize", name)]
                    command += ["--require", *self.require] if self.require else []
                    cost = measure([*command, "--n", str(self.n), "--out", str(out), "--workers", str(self.workers)])
                costs[len(values), count] = cost.seconds
                rows.append((f"{len(values):,}", f"{count:,}", f"{cost.seconds:.0f}", f"{cost.memory / 1e9:.2f}"))
                print(", ".join(rows[-1]), file=sys.stderr)
        return [*rows, *_exponents(costs)]


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """Play rounds on a pool, and count how many of the best molecules are found."""

    pool: Path
    """Folder that `graph-bandit prepare` made."""
    column: str = "logp"
    """Column of the table that is measured."""
    share: float = 0.0003
    """Share of the pool that is measured first, at random, and in each round."""
    rounds: int = 5
    """How many rounds there are."""
    top: int = 1000
    """How many of the best molecules count."""
    seeds: int = 1
    """How many starts."""
    agents: tuple[str, ...] = ("molecule-ucb", "forest")
    """Agents as on the command line; forest: a random forest."""
    markdown: bool = False
    """Print a table of Markdown."""

    def run(self) -> list[Row]:
        """Return a row for each agent and start."""
        rows: list[Row] = [("player", "start", "measured", f"% of the top {self.top:,}", "seconds a round")]
        values = Values(self.pool, self.column)
        batch = round(self.share * len(values))
        for seed in range(self.seeds):
            for agent in self.agents:
                begin, measured = time.perf_counter(), values.draw(batch, seed)
                for number in range(self.rounds):
                    chosen = self._choose(agent, values, measured, batch, seed)
                    measured = np.concatenate([measured, chosen])
                    share = 100 * values.found(measured, self.top)
                    print(f"{agent}, start {seed}, round {number + 1}: {share:.1f} %", file=sys.stderr)
                seconds = (time.perf_counter() - begin) / max(1, self.rounds)
                rows.append((agent, str(seed), f"{len(measured):,}", f"{share:.1f}", f"{seconds:.0f}"))
        return rows

    def _choose(self, agent: str, values: Values, measured: Places, count: int, seed: int) -> Places:
        if agent == "forest":
            forest = ForestRounds(self.pool, count_cores())
            return np.array(forest.choose(measured, values.values[measured], count, seed), np.int64)
        with tempfile.TemporaryDirectory() as name:
            results, out = Path(name, "results.csv"), Path(name, "suggestions.csv")
            values.write(results, measured.tolist())
            command = ["suggest", str(self.pool), "--measured", str(results), "--maximize", self.column]
            measure([*command, "--n", str(count), "--out", str(out), "--agent", agent, "--seed", str(seed)])
            with out.open(newline="", encoding="utf-8") as file:
                return values.places_of(row["id"] for row in csv.DictReader(file))


@dataclass(frozen=True, kw_only=True)
class PaperSettings:
    """Extrapolate a round to larger pools from the rates of one core."""

    pool: Path
    """Folder that `graph-bandit prepare` made."""
    column: str = "logp"
    """Column of the table that is measured."""
    measured: tuple[int, ...] = (300, 2000)
    """How many molecules have results."""
    molecules: tuple[float, ...] = (1e6, 1e8, 1e9)
    """How many there are to rate."""
    cores: int = 64
    """How many cores rate them."""
    markdown: bool = False
    """Print a table of Markdown."""

    def run(self) -> list[Row]:
        """Return a row for each pool and number of results."""
        heading = ("molecules", "results", "us to read", "us to rate", "on disk (GB)", "minutes", "read (MB/s)", "sent")
        rows: list[Row] = [heading]
        values = Values(self.pool, self.column)
        for count in self.measured:
            rates = measure_rates(self.pool, make_rater(self.pool, values, count))
            for size in self.molecules:
                seconds = size * (rates.reading + rates.rating) / self.cores
                sides = f"{1e6 * rates.reading:.0f}", f"{1e6 * rates.rating:.0f}", f"{size * rates.bytes / 1e9:,.1f}"
                ends = f"{seconds / 60:,.1f}", f"{size * rates.bytes / seconds / 1e6:,.0f}"
                rows.append((f"{size:,.0f}", f"{count:,}", *sides, *ends, f"{rates.travels / 1e6:.0f} MB"))
        return rows


def _exponents(costs: dict[tuple[int, int], float]) -> list[Row]:
    """Return the slopes of log time over log pool and over log results, where there are two or more of them."""
    sizes, counts = sorted({size for size, _ in costs}), sorted({count for _, count in costs})
    rows: list[Row] = []
    if len(sizes) > 1:
        for count in counts:
            slope = np.polyfit(np.log(sizes), np.log([costs[size, count] for size in sizes]), 1)[0]
            rows.append(("exponent of molecules", f"{count:,}", f"{slope:.2f}", ""))
    if len(counts) > 1:
        for size in sizes:
            slope = np.polyfit(np.log(counts), np.log([costs[size, count] for count in counts]), 1)[0]
            rows.append((f"{size:,}", "exponent of results", f"{slope:.2f}", ""))
    return rows


def main(args: list[str] | None = None) -> None:
    """Measure, and print a table."""
    Choice = Callable[..., RoundsSettings | SearchSettings | PaperSettings | EqualSettings]
    choices: dict[str, Choice] = {
        "rounds": RoundsSettings,
        "search": SearchSettings,
        "paper": PaperSettings,
        "equal": EqualSettings,
    }
    settings = tyro.extras.subcommand_cli_from_dict(choices, args=args, prog="python -m benchmarks.pools.streamed")
    rows = settings.run()
    if settings.markdown:
        print("\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ("---",) * len(rows[0]), *rows[1:]]))
    else:
        print_columns(rows)


if __name__ == "__main__":
    main()
