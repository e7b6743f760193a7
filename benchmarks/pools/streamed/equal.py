"""Suggestions from one pool in memory, in other parts, by other numbers of processes and on a cluster."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pools.streamed.command import measure
from benchmarks.pools.streamed.values import Values
from graph_bandit_campaign.pool.prepared import PreparedPool


@dataclass(frozen=True, kw_only=True)
class EqualSettings:
    """Suggest from a table and from pools prepared from it, and compare the suggestions byte for byte."""

    pools: tuple[Path, ...]
    """Folders that `graph-bandit prepare` made from one table; the table itself may be among them."""
    measured: int = 300
    """How many molecules have results."""
    column: str = "logp"
    """Column of the table that is measured."""
    n: int = 8
    """How many molecules to suggest."""
    workers: tuple[int, ...] = (1, 2)
    """Numbers of processes, each of which suggests from each folder."""
    cluster: int = 2
    """Processes of a Dask cluster on this machine, which suggests from each folder as well; 0: without one."""
    markdown: bool = False
    """Print a table of Markdown."""

    def run(self) -> list[tuple[str, ...]]:
        """Return a row for each way to suggest.

        Raises:
            ValueError: if none of the pools is a folder, whose molecules are drawn to be measured.
        """
        rows: list[tuple[str, ...]] = [("pool", "parts", "by", "seconds", "memory (GB)", "suggestions")]
        folders = [pool for pool in self.pools if pool.is_dir()]
        if not folders:
            raise ValueError("Expected `--pools` to name a folder that `graph-bandit prepare` made. It names none.")
        values = Values(folders[0], self.column)
        with tempfile.TemporaryDirectory() as name, _cluster(self.cluster) as address:
            results, out = Path(name, "results.csv"), Path(name, "suggestions.csv")
            values.write(results, values.draw(self.measured, seed=0).tolist())
            expected = b""
            for pool in self.pools:
                for by, options in self._ways(pool, address):
                    command = ["suggest", str(pool), "--measured", str(results), "--maximize", self.column]
                    cost = measure([*command, "--n", str(self.n), "--out", str(out), *options])
                    expected = expected or out.read_bytes()
                    verdict = "the same bytes" if out.read_bytes() == expected else "DIFFERENT"
                    parts = f"{len(PreparedPool.open(pool).parts)}" if pool.is_dir() else "in memory"
                    rows.append((pool.name, parts, by, f"{cost.seconds:.0f}", f"{cost.memory / 1e9:.2f}", verdict))
                    for path in (*Path(name).glob("suggestions.*"), *Path(name).glob(".suggestions.*")):
                        path.unlink()
        return rows

    def _ways(self, pool: Path, address: str) -> Iterator[tuple[str, Sequence[str]]]:
        """Return names and options of the ways to suggest from a pool."""
        if not pool.is_dir():
            yield "one process", ()
            return
        for count in self.workers:
            yield f"{count} process{'es' if count > 1 else ''}", ("--workers", str(count))
        if address:
            yield f"a Dask cluster of {self.cluster}", ("--scheduler", address)


@contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """Start a Dask cluster on this machine, and yield its address; empty if there is to be none."""
    if not workers:
        yield ""
        return
    from distributed import LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address
