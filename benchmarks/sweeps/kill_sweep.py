"""Kill the driver of a sweep again and again: python -m benchmarks.sweeps.kill_sweep [--kills 50] [--repetitions 8].

At the end it must have stored, bit for bit, what an uninterrupted sweep stores.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.speed.measure import ROOT
from graph_bandit_lab import load_results, read_sweep, run_sweep

SWEEP = """
title = "sixty short runs"
repetitions = {repetitions}
agents = ["gnn-ts:width=8,steps=2", "random"]

[[grid]]
[grid.environment]
num_graphs = [3, 5]
num_nodes = 4
reward_model = ["linear", "gp_gntk"]
horizon = 8
"""


def survive(folder: Path, kills: int, repetitions: int, workers: int = 2, seed: int = 0) -> int:
    """Play a sweep and kill its driver at random moments, and play the same sweep without interruption.

    Args:
        folder: folder for both.
        kills: number of kills.
        repetitions: repetitions of each of two agents on four environments.
        workers: processes of the killed sweep; one process plays the other sweep.
        seed: seed of the moments.

    Returns:
        The number of repetitions stored.

    Raises:
        AssertionError: if a finished repetition was lost, or the two tables differ.
    """
    file, chance = folder / "sweep.toml", random.Random(seed)  # noqa: S311 - moments, not secrets
    file.write_text(SWEEP.format(repetitions=repetitions))
    stored = 0
    for _ in range(kills):
        command = [sys.executable, "-W", "ignore", "-m", "graph_bandit_cli", "sweep", str(file)]
        driver = subprocess.Popen(
            [*command, "--out", str(folder / "killed"), "--workers", str(workers)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wanted, deadline = stored + chance.randint(0, 3), time.monotonic() + 60
        while driver.poll() is None and count(folder / "killed") < wanted and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(chance.random() * 0.1)
        driver.kill()
        driver.wait()
        if count(folder / "killed") < stored:
            raise AssertionError(f"Lost repetitions: {stored} were stored, {count(folder / 'killed')} are now.")
        stored = count(folder / "killed")
    for name in ("killed", "whole"):
        run_sweep(read_sweep(file).plan(), folder / name, progress=False, report=False)
    if table(folder / "killed") != table(folder / "whole"):
        raise AssertionError("The killed sweep and the uninterrupted one differ.")
    return count(folder / "killed")


def count(folder: Path) -> int:
    """Return the number of repetitions that are stored."""
    try:
        return len(load_results(folder))
    except FileNotFoundError:  # not there yet
        return 0


def table(folder: Path) -> dict[tuple[str, str, int], tuple[str, list[int], list[float]]]:
    """Return status, actions and rewards by agent, environment and seed."""
    rows: list[dict[Any, Any]] = load_results(folder).to_dict("records")
    return {
        (row["label"], str(row["environment"]), row["seed"]): (
            row["status"],
            row["actions"].tolist(),
            row["rewards"].tolist(),
        )
        for row in rows
    }


def main() -> None:
    """Kill and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--repetitions", type=int, default=8, help="of two agents on four environments")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stored = survive(Path(folder), arguments.kills, arguments.repetitions)
    print(f"{arguments.kills} kills, {stored} repetitions: the same table, bit for bit, as without kills.")


if __name__ == "__main__":
    main()
