"""Suggest from 49,699 molecules with 300 measurements: python -m benchmarks.speed.large.suggest --data FOLDER.

Runs `graph-bandit suggest` twice in separate processes, first without and then with the prepared pool that it keeps in
an empty cache folder. Prints the time by the clock and that of all cores, the peak memory of the largest
process, and how much of it is above that of a process that imports the same modules and does nothing.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import tyro
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.rdMolDescriptors import CalcCrippenDescriptors, CalcTPSA

from benchmarks.speed.large.process import measure
from graph_bandit_lab.reports import print_columns

QUANTITIES = {
    "clogp": lambda smiles: CalcCrippenDescriptors(MolFromSmiles(smiles))[0],
    "area": lambda smiles: CalcTPSA(MolFromSmiles(smiles)),
}
"""What is computed of each molecule with a result."""
SMALL = 50  # molecules of the pool for which modules are listed
LIST_MODULES = """
import sys
from pathlib import Path
from graph_bandit_cli.main import main
code = main(sys.argv[2:])
Path(sys.argv[1]).write_text("\\n".join(sorted(sys.modules)), encoding="utf-8")
sys.exit(code)
"""
IMPORT_MODULES = """
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
for name in Path(sys.argv[1]).read_text(encoding="utf-8").split():
    if name != "__main__":
        with suppress(Exception):  # a few cannot be imported by themselves
            import_module(name)
"""


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
    more: str = ""
    """Further options of `suggest`, such as "--encoder minimol" or "--max-per-group 2 --group-by scaffold"."""
    budget: float | None = None
    """What they may cost, at prices from 1 to 10; None: there are no prices."""
    three_goals: bool = False
    """Whether results have a logP and a polar surface area, by RDKit, too: a low score, a low logP and a large area are
    wanted, and masses below 450 are required."""


def write_tables(settings: LargeSettings, folder: Path) -> list[str]:
    """Write the pool and the results, and return the arguments of `graph-bandit`."""
    table = pd.read_csv(settings.data / "docking_pool.csv.gz").iloc[: settings.molecules]
    folder.mkdir(exist_ok=True)
    table.insert(0, "id", [f"m{k}" for k in range(len(table))])
    index = np.random.default_rng(0).choice(len(table), settings.measured, replace=False)
    table["price"] = 10 ** np.random.default_rng(1).random(len(table))
    table[["id", "smiles", "price"]].to_csv(folder / "pool.csv", index=False)
    results = table.iloc[index].assign(**{name: table["smiles"].iloc[index].map(of) for name, of in QUANTITIES.items()})
    quantities = ["score", *QUANTITIES] if settings.three_goals else ["score"]
    results[["id", *quantities]].to_csv(folder / "measured.csv", index=False)
    names = ("pool.csv", "measured.csv", "suggestions.csv", "suggestions.html")
    pool, measured, out, page = (str(folder / name) for name in names)
    command = ["suggest", pool, "--measured", measured, "--minimize", "score", "--n", str(settings.n)]
    command += ["--minimize", "clogp", "--maximize", "area", "--require", "mw<450"] if settings.three_goals else []
    command += [] if settings.budget is None else ["--price", "price", "--budget", str(settings.budget)]
    return [*command, *shlex.split(settings.more), "--out", out, "--html", page]


def measure_imports(settings: LargeSettings, folder: Path) -> float:
    """Return the peak memory in bytes of a process that imports what `suggest` imports for a small pool."""
    small = replace(settings, molecules=SMALL, measured=min(settings.measured, SMALL // 2), budget=None)
    names = folder / "modules.txt"
    measure("-c", LIST_MODULES, str(names), *write_tables(small, folder))
    return measure("-c", IMPORT_MODULES, str(names)).peak


def main(args: list[str] | None = None) -> None:
    """Measure both runs and print them."""
    settings = tyro.cli(LargeSettings, args=args, prog="python -m benchmarks.speed.large.suggest")
    rows: list[tuple[str, ...]] = [("", "seconds", "of CPU", "peak memory of the largest process", "above the imports")]
    with tempfile.TemporaryDirectory() as name, patch.dict(os.environ, GRAPH_BANDIT_CACHE=f"{name}/cache"):
        imports = measure_imports(settings, Path(name, "small"))
        arguments = write_tables(settings, Path(name))
        for label in ("the first time", "with what is kept"):
            cost = measure("-m", "graph_bandit_cli", *arguments)
            above = f"{(cost.peak - imports) / 1e6:.0f} MB"
            rows.append((label, f"{cost.seconds:.0f}", f"{cost.cpu:.0f}", f"{cost.peak / 1e9:.2f} GB", above))
    print()
    print_columns(rows)


if __name__ == "__main__":
    main()
