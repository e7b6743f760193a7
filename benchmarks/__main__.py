"""Run the speed benchmarks: python -m benchmarks [--out FILE] [--repetitions R]."""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
from pathlib import Path

import torch

from benchmarks.speed import kernels, molecules, runs, vector
from benchmarks.speed.measure import show
from graph_bandit_lab.storage import software_versions


def main() -> None:
    """Print the table and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/bench.json"))
    parser.add_argument("--repetitions", type=int, default=10, help="repetitions of the comparison of regret")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = [*kernels.rows(), *vector.rows(), *molecules.rows()]
    show(rows)
    whole = runs.rows(arguments.repetitions)
    show(whole)
    rows += whole
    machine = {"processor": platform.processor() or platform.machine(), "threads": 1, **software_versions()}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps({"machine": machine, "rows": [dataclasses.asdict(r) for r in rows]}, indent=1))
    print(f"\n{arguments.out}")


if __name__ == "__main__":
    main()
