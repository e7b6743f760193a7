"""Time `suggest` with results of another assay, as a ratio to the time without: python -m benchmarks.speed.also."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from benchmarks.speed.measure import ROOT, Row, show
from benchmarks.speed.molecules import drug_like

MOLECULES, OWN, OTHERS = 10_000, 100, 3_000  # of the pool, own results, results of the other assay
PAIRS = 3


def write_tables(folder: Path, molecules: int, own: int, others: int) -> None:
    """Write a pool, own results, and results of another assay, half of them of molecules outside the pool."""
    smiles, generator = drug_like(molecules + others // 2), np.random.default_rng(0)
    values = np.array([len(text) for text in smiles]) + generator.normal(size=len(smiles))
    table = pd.DataFrame({"id": [f"m{k}" for k in range(len(smiles))], "smiles": smiles, "value": values})
    table[["id", "smiles"]][:molecules].to_csv(folder / "pool.csv", index=False)
    table[["id", "value"]][: own * 7 : 7].to_csv(folder / "results.csv", index=False)
    other = table[-others:].assign(value=values[-others:] + generator.normal(size=others))
    other[["smiles", "value"]].rename(columns={"value": "other"}).to_csv(folder / "other.csv", index=False)


def suggest(folder: Path, name: str, *more: str) -> float:
    """Return the seconds of a first round of `suggest`, in a process of its own."""
    for path in folder.glob(f"{name}*"):
        path.unlink()
    tables = [str(folder / "pool.csv"), "--measured", str(folder / "results.csv"), "--out", str(folder / f"{name}.csv")]
    command = [sys.executable, "-m", "graph_bandit_cli", "suggest", *tables, "--maximize", "value", "--n", "10", *more]
    begin = time.perf_counter()
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return time.perf_counter() - begin


def rows(molecules: int = MOLECULES, own: int = OWN, others: int = OTHERS, pairs: int = PAIRS) -> list[Row]:
    """Return the ratio, and the seconds of both; what is kept of the pool is computed before."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, molecules, own, others)
        suggest(folder, "alone")
        also = ("--also", str(folder / "other.csv"))
        times = [(suggest(folder, "alone"), suggest(folder, "with", *also)) for _ in range(pairs)]
    alone, together = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(second / first for first, second in times)
    what = f"suggest among {molecules:,} molecules"
    return [
        Row.at_most(f"{what}, with {others:,} results of another assay, times as long", ratio, "", 3),
        Row(f"{what}, without", alone, "s"),
        Row(f"{what}, with them", together, "s"),
    ]


if __name__ == "__main__":
    show(rows())
