"""Suggest from a pool of 49,699 molecules with 300 measurements: python -m benchmarks.pools.large --data FOLDER.

Runs `graph-bandit suggest` twice in separate processes, first without and then with a cache of the parsed pool. Prints
the wall time and the peak memory of the largest process.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import tyro
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.rdMolDescriptors import CalcCrippenDescriptors, CalcTPSA

from graph_bandit_lab.reports import print_columns

QUANTITIES = {
    "clogp": lambda smiles: CalcCrippenDescriptors(MolFromSmiles(smiles))[0],
    "area": lambda smiles: CalcTPSA(MolFromSmiles(smiles)),
}
"""What is computed of each molecule with a result."""


@dataclass(frozen=True, kw_only=True)
class LargeSettings:
    """Suggest from a large pool, and measure time and memory."""

    data: Path
    """Folder of docking_pool.csv.gz."""
    molecules: int | None = None
    """How many molecules to take, from the first; None: all."""
    measured: int = 300
    """How many of the molecules, drawn at random, have results."""
    n: int = 8
    """How many molecules to suggest."""
    at_most: int | None = None
    """How many of them may have the same scaffold; None: any number."""
    budget: float | None = None
    """What they may cost, at prices from 1 to 10; None: there are no prices."""
    three_goals: bool = False
    """Whether results have a logP and a polar surface area, by RDKit, too: a low score, a low logP and a large area are
    wanted, and masses below 450 are required."""


def write_tables(settings: LargeSettings, folder: Path) -> list[str]:
    """Write the pool and the results, and return the arguments of `graph-bandit`."""
    table = pd.read_csv(settings.data / "docking_pool.csv.gz").iloc[: settings.molecules]
    table.insert(0, "id", [f"m{k}" for k in range(len(table))])
    known = np.random.default_rng(0).choice(len(table), settings.measured, replace=False)
    table["price"] = 10 ** np.random.default_rng(1).random(len(table))
    table[["id", "smiles", "price"]].to_csv(folder / "pool.csv", index=False)
    results = table.iloc[known].assign(**{name: table["smiles"].iloc[known].map(of) for name, of in QUANTITIES.items()})
    quantities = ["score", *QUANTITIES] if settings.three_goals else ["score"]
    results[["id", *quantities]].to_csv(folder / "measured.csv", index=False)
    names = ("pool.csv", "measured.csv", "suggestions.csv", "suggestions.html")
    pool, measured, out, page = (str(folder / name) for name in names)
    command = ["suggest", pool, "--measured", measured, "--minimize", "score", "--n", str(settings.n)]
    goals = ["--minimize", "clogp", "--maximize", "area", "--require", "mw<450"]
    command += goals if settings.three_goals else []
    command += [] if settings.at_most is None else ["--at-most", str(settings.at_most), "--per", "scaffold"]
    command += [] if settings.budget is None else ["--price", "price", "--budget", str(settings.budget)]
    return [*command, "--out", out, "--html", page]


def measure(arguments: list[str]) -> tuple[float, float]:
    """Run the command, and return its wall time in seconds and peak memory in bytes.

    Raises:
        RuntimeError: if the command fails.
    """
    begin = time.perf_counter()
    command = [sys.executable, "-m", "graph_bandit_cli", *arguments]
    _, status, usage = os.wait4(os.posix_spawn(sys.executable, command, os.environ), 0)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"`graph-bandit {' '.join(arguments)}` failed.")
    return time.perf_counter() - begin, 1024.0 * usage.ru_maxrss


def main(args: list[str] | None = None) -> None:
    """Measure both runs and print them."""
    settings = tyro.cli(LargeSettings, args=args, prog="python -m benchmarks.pools.large")
    rows: list[tuple[str, ...]] = [("", "seconds", "peak memory of the largest process")]
    with tempfile.TemporaryDirectory() as name:
        arguments = write_tables(settings, Path(name))
        for label in ("the first time", "with the cache"):
            seconds, peak = measure(arguments)
            rows.append((label, f"{seconds:.0f}", f"{peak / 1e9:.1f} GB"))
    print()
    print_columns(rows)


if __name__ == "__main__":
    main()
