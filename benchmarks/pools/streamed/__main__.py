"""Measure rounds on prepared pools, which `python -m benchmarks.pools.million` and `graph-bandit prepare` make.

    python -m benchmarks.pools.streamed rounds --pools FOLDER FOLDER --measured 300 2000 --markdown
    python -m benchmarks.pools.streamed rounds --pools TABLE FOLDER FOLDER --same --workers 1 2 --cluster 2 --markdown
    python -m benchmarks.pools.streamed rounds --pools FOLDER --minimize tpsa --require "mw<400" --markdown
    python -m benchmarks.pools.streamed search --pool FOLDER --markdown

The first suggests from each pool with so many results, in a process of its own. The second does so from one pool in
several forms, and compares the suggestions. The third has two goals and a limit. The fourth plays rounds, and counts
how many of the best molecules were found, by a `molecule-` agent and by a random forest on the same fingerprints.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from numpy.typing import NDArray

from benchmarks.pools.streamed.forest import choose_by_forest
from benchmarks.pools.streamed.process import measure
from benchmarks.pools.streamed.values import Values
from graph_bandit_campaign.pool.prepared import PreparedPool
from graph_bandit_lab.reports import print_columns

Row = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RoundsSettings:
    """Time a round on each pool, with each number of results, in each way."""

    pools: tuple[Path, ...]
    """Folders that `graph-bandit prepare` made, or tables."""
    measured: tuple[int, ...] = (300,)
    """How many molecules have results."""
    column: str = "logp"
    """Column of the table that is measured, of which large values are wanted."""
    minimize: tuple[str, ...] = ()
    """Further columns that are measured, of which small values are wanted."""
    require: tuple[str, ...] = ()
    """Limits on what is suggested, as of `suggest`."""
    n: int = 8
    """How many molecules to suggest."""
    workers: tuple[int, ...] = (0,)
    """Numbers of processes, each of which suggests from each folder; 0: one for each core, shown as "all"."""
    cluster: int = 0
    """Processes of a Dask cluster on this machine, which suggests from each folder as well; 0: without one."""
    same: bool = False
    """The pools are one table in several forms: compare the suggestions byte for byte."""
    markdown: bool = False
    """Print a table of Markdown."""

    def run(self) -> list[Row]:
        """Return a row for each pool, number of results and way.

        Raises:
            ValueError: if none of the pools is a folder, whose molecules are drawn to be measured.
        """
        rows: list[Row] = [("pool", "molecules", "parts", "results", "by", "seconds", "memory (GB)", "suggestions")]
        expected: dict[int, bytes] = {}
        folders = [pool for pool in self.pools if pool.is_dir()]
        if not folders:
            raise ValueError("Expected `--pools` to name a folder that `graph-bandit prepare` made. It names none.")
        with _cluster(self.cluster) as address:
            for pool in self.pools:
                values = Values(pool if pool.is_dir() else folders[0], self.column, *self.minimize)
                parts = f"{len(PreparedPool.open(pool).parts)}" if pool.is_dir() else "in memory"
                for count in self.measured:
                    for by, options in self._ways(pool, address):
                        measured = values.draw(count, seed=0)
                        begin = [pool.name, f"{len(values):,}", parts, f"{count:,}", by]
                        seconds, memory, table = suggest(pool, values, measured, self.n, [*self._wanted(), *options])
                        same = "the same bytes" if table == expected.get(count) else "DIFFERENT"
                        compared = same if self.same and count in expected else ""
                        expected.setdefault(count, table)
                        rows.append((*begin, f"{seconds:.0f}", f"{memory / 1e9:.2f}", compared))
                        print(", ".join(rows[-1]), file=sys.stderr)
        return rows

    def _wanted(self) -> list[str]:
        """Return the options that say what else is wanted."""
        wanted = [part for name in self.minimize for part in ("--minimize", name)]
        return [*wanted, "--require", *self.require] if self.require else wanted

    def _ways(self, pool: Path, address: str) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield names and options of the ways to suggest from a pool."""
        if not pool.is_dir():
            yield "one process", ()
            return
        for count in self.workers:
            yield f"{count or 'all'} process{'es' if count != 1 else ''}", ("--workers", str(count))
        if address:
            yield f"a Dask cluster of {self.cluster}", ("--scheduler", address)


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
    agents: tuple[str, ...] = ("molecule-ucb", "forest")
    """Agents as on the command line; forest: a random forest."""
    markdown: bool = False
    """Print a table of Markdown."""

    def run(self) -> list[Row]:
        """Return a row for each agent."""
        rows: list[Row] = [("player", f"% of the top {self.top:,} after each round", "seconds a round")]
        values = Values(self.pool, self.column)
        batch = round(self.share * len(values))
        for agent in self.agents:
            begin, measured, shares = time.perf_counter(), values.draw(batch, seed=0), list[str]()
            for _ in range(self.rounds):
                if agent == "forest":
                    chosen = choose_by_forest(self.pool, measured, values.values[measured], batch)
                else:
                    _, _, table = suggest(self.pool, values, measured, batch, ("--agent", agent))
                    chosen = values.places_of(row["id"] for row in csv.DictReader(table.decode().splitlines()))
                measured = np.concatenate([measured, chosen])
                shares.append(f"{100 * values.share_found(measured, self.top):.1f}")
                print(f"{agent}: {shares[-1]} %", file=sys.stderr)
            rows.append((agent, ", ".join(shares), f"{(time.perf_counter() - begin) / self.rounds:.0f}"))
        return rows


def suggest(
    pool: Path, values: Values, measured: NDArray[np.int64], n: int, options: Sequence[str]
) -> tuple[float, float, bytes]:
    """Run `graph-bandit suggest`, and return its seconds, its memory in bytes, and the table of suggestions."""
    with tempfile.TemporaryDirectory() as name:
        results, out = Path(name, "results.csv"), Path(name, "suggestions.csv")
        values.write(results, measured.tolist())
        command = ["suggest", str(pool), "--measured", str(results), "--maximize", values.columns[0], "--n", str(n)]
        cost = measure("-m", "graph_bandit_cli", *command, "--out", str(out), *options)
        return cost.seconds, cost.memory, out.read_bytes()


@contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """Start a Dask cluster on this machine, and yield its address; empty if there is to be none."""
    if not workers:
        yield ""
        return
    from distributed import LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def main(args: list[str] | None = None) -> None:
    """Measure, and print a table."""
    choices: dict[str, Callable[..., RoundsSettings | SearchSettings]] = {
        "rounds": RoundsSettings,
        "search": SearchSettings,
    }
    settings = tyro.extras.subcommand_cli_from_dict(choices, args=args, prog="python -m benchmarks.pools.streamed")
    print_columns(settings.run(), markdown=settings.markdown)


if __name__ == "__main__":
    main()
