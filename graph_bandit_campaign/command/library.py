"""Write a pool and a few results to try `graph-bandit suggest` without data of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from graph_bandit_campaign.file import digest_of, refuse_others
from graph_bandit_campaign.text import to_csv
from graph_bandit_env import enumerate_library
from graph_bandit_env.storage import replace_file
from graph_bandit_lab.storage import make_folder


def write_library(
    folder: Path, reward: Literal["qed", "logp", "tpsa"], measured: int = 30, seed: int = 0, overwrite: bool = False
) -> tuple[Path, Path]:
    """Write pool.csv (id, smiles) and measured.csv (id, smiles, the property) of the enumerated library.

    Args:
        folder: folder of the files; made if it does not exist.
        reward: the property that stands for a measurement; RDKit computes it.
        measured: how many molecules have a result.
        seed: seed by which these molecules are drawn.
        overwrite: whether files of these names that hold anything else are replaced.

    Returns:
        The paths of both files.

    Raises:
        ImportError: if RDKit is not installed (the extra `chem` installs it).
        ValueError: if `measured` is not from 1 to the number of molecules, or a file of either name holds anything
            else; nothing is written then.
    """
    molecules = enumerate_library(reward)
    if not 1 <= measured <= len(molecules):
        raise ValueError(f"Expected `--measured` to be from 1 to {len(molecules)}. Got {measured}.")
    names = [f"lib-{k:04d}" for k in range(len(molecules))]
    known = np.random.default_rng(seed).choice(len(molecules), measured, replace=False)
    rows = ((names[k], molecules.smiles[k], f"{molecules.targets[k]:.4g}") for k in known)
    contents = {
        folder / "pool.csv": to_csv([("id", "smiles"), *zip(names, molecules.smiles, strict=True)]).encode(),
        folder / "measured.csv": to_csv([("id", "smiles", reward), *rows]).encode(),
    }
    refuse_others(contents, [*map(digest_of, contents.values())], overwrite, "Choose another folder.")
    make_folder(folder)
    for path, content in contents.items():
        replace_file(path, content)
    pool, results = contents
    return pool, results
