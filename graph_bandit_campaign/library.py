"""Write a pool and a few results to try `graph-bandit suggest` without data of your own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from graph_bandit_env import enumerate_library
from graph_bandit_lab.storage import make_folder, replace_file


def write_library(
    folder: Path, reward: Literal["qed", "logp", "tpsa"], measured: int = 30, seed: int = 0
) -> tuple[Path, Path]:
    """Write pool.csv (id, smiles) and measured.csv (id, smiles, the property) of the enumerated library.

    Args:
        folder: folder of the files; made if it does not exist.
        reward: the property that stands for a measurement; RDKit computes it.
        measured: how many molecules have a result.
        seed: seed by which these molecules are drawn.

    Returns:
        The paths of both files.

    Raises:
        ImportError: if RDKit is not installed (the extra `chem` installs it).
        ValueError: if `measured` is not from 1 to the number of molecules.
    """
    molecules = enumerate_library(reward)
    if not 1 <= measured <= len(molecules):
        raise ValueError(f"Expected `--measured` to be from 1 to {len(molecules)}. Got {measured}.")
    names = [f"lib-{k:04d}" for k in range(len(molecules))]
    known = np.random.default_rng(seed).choice(len(molecules), measured, replace=False)
    make_folder(folder)
    pool, results = folder / "pool.csv", folder / "measured.csv"
    _write(pool, ("id", "smiles"), zip(names, molecules.smiles, strict=True))
    rows = ((names[k], molecules.smiles[k], f"{molecules.targets[k]:.4g}") for k in known)
    _write(results, ("id", "smiles", reward), rows)
    return pool, results


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    replace_file(path, text.getvalue().encode())
