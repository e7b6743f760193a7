"""Measure memory and time of driver and report in a sweep of 16,000 repetitions: python -m benchmarks.sweeps.many_runs.

The sweep is Table 1 of the paper with more repetitions. The play is made up and takes no time, so that the driver, from
its plan to the last transaction, and the report are measured. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.measure import in_a_process_of_its_own, peak_bytes
from graph_bandit_lab import BanditResult, run_sweep, write_report
from graph_bandit_lab.design import Overrides, Repetition
from graph_bandit_lab.execution import Outcome, Workers, plan_sweep


class MadeUp(Workers):
    """Workers that play nothing: they make up regret that falls with t."""

    slots = 4

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return a made-up outcome."""
        future: Future[Any] = Future()
        future.set_result(_make_up(args[0]))
        return future


def _make_up(repetition: Repetition) -> Outcome:
    rng = np.random.default_rng(repetition.seed)
    horizon = repetition.key.environment["horizon"]
    regret = rng.exponential(1.0, horizon) / np.sqrt(np.arange(1, horizon + 1))
    actions = rng.integers(repetition.key.environment["num_graphs"], size=horizon)
    findings = {"simple_regret": regret, "best_found": -regret, "top_share": regret / regret.max()}
    return Outcome(BanditResult(actions, -regret, regret, seconds=1.0, **findings), 1.0)


def drive(folder: Path, repetitions: int) -> dict[str, float]:
    """Run a sweep in this process; return its number of repetitions, times, and peaks of memory in bytes."""
    begin = time.perf_counter()
    plan = plan_sweep("paper-table1", Overrides(repetitions=repetitions))
    before, planned = peak_bytes(), time.perf_counter() - begin
    tally = run_sweep(plan, folder, MadeUp, progress=False, report=False)
    return {
        "runs": tally.played,
        "plan_seconds": planned,
        "plan_bytes": before,
        "driver_seconds": time.perf_counter() - begin,
        "driver_bytes": peak_bytes(),
    }


def report(folder: Path) -> dict[str, float]:
    """Write the report in this process; return its time, and the peak of memory."""
    begin = time.perf_counter()
    write_report(folder)
    return {"report_seconds": time.perf_counter() - begin, "report_bytes": peak_bytes()}


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=14, help="of 192 environments and six agents")
    parser.add_argument("--part", nargs=2, metavar=("PART", "FOLDER"), help="only drive, or only report")
    arguments = parser.parse_args()
    if arguments.part:
        part, folder = arguments.part
        print(json.dumps(drive(Path(folder), arguments.repetitions) if part == "drive" else report(Path(folder))))
        return
    with tempfile.TemporaryDirectory() as folder:
        measured: dict[str, float] = {}
        for part in ("drive", "report"):
            measured |= in_a_process_of_its_own(
                "benchmarks.sweeps.many_runs", "--repetitions", arguments.repetitions, "--part", part, folder
            )
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
