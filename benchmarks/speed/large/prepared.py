"""Measure `graph-bandit prepare`: python -m benchmarks.speed.large.prepared million.csv.gz --out FOLDER [--kills 2].

Prints the time, the peak memory of all its processes together, and the room it takes. Killed on the way, it is started
again each time. The folder must be new.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from benchmarks.speed.large.process import measure
from graph_bandit_campaign import PreparedPool
from graph_bandit_lab.reports import print_columns


@dataclass(frozen=True, kw_only=True)
class PreparedSettings:
    """Measure the preparation of a pool."""

    pool: tyro.conf.Positional[Path]
    """Table of molecules."""
    out: Path
    """Folder for the prepared pool; it must be new."""
    workers: int = 2
    """Processes."""
    descriptors: tuple[str, ...] = ("atom_pairs", "ecfp", "properties")
    """What is computed of each molecule."""
    part_rows: int = 49_152
    """Rows of the table in each part."""
    kills: int = 0
    """How often it is killed, each time after one more part."""


def main(args: list[str] | None = None) -> None:
    """Prepare the pool, and print what was measured."""
    settings = tyro.cli(PreparedSettings, args=args, prog="python -m benchmarks.speed.large.prepared")
    out = settings.out
    if out.exists():
        raise ValueError(f"Expected a new folder. Got {out}. Choose another --out.")
    command = ["-m", "graph_bandit_cli", "prepare", str(settings.pool), "--out", str(out), "--workers"]
    command += [str(settings.workers), "--part-rows", str(settings.part_rows), "--descriptors", *settings.descriptors]
    runs = [
        measure(*command, stop=lambda parts=kills: len(list(out.glob("part-*.parquet"))) > parts)  # type: ignore[misc]
        for kills in range(settings.kills)
    ]
    runs.append(measure(*command))
    pool = PreparedPool.open(out)
    seconds, memory = sum(run.seconds for run in runs), max(run.memory for run in runs)
    size = sum(path.stat().st_size for path in out.iterdir())
    rows: list[tuple[str, ...]] = [("molecules", f"{len(pool):,}"), ("time", f"{seconds:.0f} s")]
    rows += [("memory of all processes", f"{memory / 1e6:.0f} MB"), ("room", f"{size / 1e6:.0f} MB")]
    print_columns(rows)


if __name__ == "__main__":
    main()
