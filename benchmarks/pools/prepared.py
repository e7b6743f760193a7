"""Measure `graph-bandit prepare`: python -m benchmarks.pools.prepared million.csv.gz --out FOLDER [--kills 2].

Prints the time, the peak memory of all its processes together, and how many bytes a molecule takes by column. Killed on
the way, it is started again each time. The folder must be new.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import tyro
from pyarrow.parquet import ParquetFile

from graph_bandit_campaign import PreparedPool
from graph_bandit_lab.reports import print_columns

PAUSE = 0.5  # seconds between two looks at the processes
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


@dataclass(frozen=True, kw_only=True)
class PreparedSettings:
    """Measure the preparation of a pool."""

    pool: tyro.conf.Positional[Path]
    """Table of molecules."""
    out: Path
    """Folder for the prepared pool; it must be new."""
    workers: int = 2
    """Processes."""
    traits: tuple[str, ...] = ("atom_pairs", "morgan", "properties")
    """What is computed of each molecule."""
    part_rows: int = 49_152
    """Rows of the table in each part."""
    kills: int = 0
    """How often it is killed, each time after one more part."""


@dataclass
class Run:
    """What was measured of one run, or of several that continue each other."""

    seconds: float = 0.0
    peaks: list[float] = field(default_factory=list)
    """Peak memory of each run, in bytes."""


def main(args: list[str] | None = None) -> None:
    """Prepare the pool, and print what was measured."""
    settings = tyro.cli(PreparedSettings, args=args, prog="python -m benchmarks.pools.prepared")
    if settings.out.exists():
        raise ValueError(f"Expected a new folder. Got {settings.out}. Choose another --out.")
    run = Run()
    for kills in range(settings.kills + 1):
        measure(settings, run, finished_parts=None if kills == settings.kills else kills + 1)
    pool = PreparedPool.open(settings.out)
    seconds, peak = f"{run.seconds:.0f} s", f"{max(run.peaks) / 1e6:.0f} MB"
    size = sum(path.stat().st_size for path in settings.out.iterdir())
    rows = [("molecules", f"{len(pool):,}"), ("time", seconds), ("memory of all processes", peak)]
    rows += [("room", f"{size / 1e6:.0f} MB"), ("", "bytes a molecule")]
    print_columns([*rows, *((name, f"{count / len(pool):.1f}") for name, count in bytes_of_columns(pool).items())])


def measure(settings: PreparedSettings, run: Run, finished_parts: int | None) -> None:
    """Run the command, and kill it once so many parts are finished; None: let it come to its end.

    Raises:
        RuntimeError: if it fails.
    """
    command = [sys.executable, "-m", "graph_bandit_cli", "prepare", str(settings.pool), "--out", str(settings.out)]
    command += ["--workers", str(settings.workers), "--part-rows", str(settings.part_rows), "--traits"]
    begin, peak = time.perf_counter(), 0.0
    process = subprocess.Popen([*command, *settings.traits])
    while process.poll() is None:
        peak = max(peak, memory_of(process.pid))
        if finished_parts is not None and len(list(settings.out.glob("part-*.json"))) >= finished_parts:
            process.send_signal(KILL)
            process.wait()
        time.sleep(PAUSE)
    run.seconds += time.perf_counter() - begin
    run.peaks.append(peak)
    if process.returncode not in (0, -KILL):
        raise RuntimeError(f"`graph-bandit prepare` ended with {process.returncode}.")


def memory_of(pid: int) -> float:
    """Return the memory of a process and its children; what they share counts once, where the system tells."""
    total = 0.0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                known = each.memory_full_info()
                total += getattr(known, "pss", known.rss)
    return total


def bytes_of_columns(pool: PreparedPool) -> Counter[str]:
    """Return the bytes that each column of the parts takes, without the ends of their names that lists have."""
    sizes = Counter[str]()
    for part in pool.parts:
        with ParquetFile(part.path) as file:
            for group in range(file.metadata.num_row_groups):
                for column in range(file.metadata.num_columns):
                    chunk = file.metadata.row_group(group).column(column)
                    sizes[chunk.path_in_schema.removesuffix(".list.element")] += chunk.total_compressed_size
    return sizes


if __name__ == "__main__":
    main()
