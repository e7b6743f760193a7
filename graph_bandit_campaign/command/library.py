"""Write a pool and a few results to try `graph-bandit suggest` without data of your own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np

from graph_bandit_campaign.report.tables import write_table
from graph_bandit_campaign.store import digest_of, refuse_others
from graph_bandit_env import enumerate_library
from graph_bandit_env.pools.products import example_library, example_values
from graph_bandit_env.storage import replace_file
from graph_bandit_lab.storage import make_folder

LIBRARY = """# Each reaction has a slot for each reactant. The tables of building blocks are in the folder of this file.
[[reactions]]
name = "amide"
smarts = "{smarts}"
slots = [
  {{name = "acid", blocks = "acids.csv", price = "price"}},
  {{name = "amine", blocks = "amines.csv", price = "price"}},
]
"""


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
        ValueError: if there are fewer molecules than `measured`, or a file of either name holds anything else; nothing
            is written then.
    """
    molecules = enumerate_library(reward)
    names = [f"lib-{k:04d}" for k in range(len(molecules))]
    index = np.random.default_rng(seed).choice(len(molecules), measured, replace=False)
    rows = ((names[k], molecules.smiles[k], f"{molecules.targets[k]:.4g}") for k in index)
    pool, results = folder / "pool.csv", folder / "measured.csv"
    contents = {
        pool: write_table(pool, [("id", "smiles"), *zip(names, molecules.smiles, strict=True)]),
        results: write_table(results, [("id", "smiles", reward), *rows]),
    }
    _write(contents, overwrite)
    return pool, results


def write_products(
    folder: Path, reward: Literal["qed", "logp", "tpsa"], measured: int = 30, seed: int = 0, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write a library of products, library.toml with acids.csv and amines.csv, and measured.csv with a few results.

    Args:
        folder: as for `write_library`.
        reward: as for `write_library`.
        measured: how many products have a result.
        seed: seed by which these are drawn.
        overwrite: as for `write_library`.

    Returns:
        The paths of the files.

    Raises:
        ImportError, ValueError: as `write_library`.
    """
    library = example_library()
    (part,) = library.parts
    contents = {folder / "library.toml": LIBRARY.format(smarts=part.reaction.smarts).encode()}
    for slot in part.slots:
        rows = zip(slot.ids, slot.smiles, [] if slot.prices is None else map(str, slot.prices), strict=True)
        table = folder / f"{slot.name}s.csv"
        contents[table] = write_table(table, [("id", "smiles", "price"), *rows])
    drawn = library.make(library.draw(2 * measured, np.random.default_rng(seed)))
    made = [product for product in drawn if product.smiles][:measured]
    pairs = zip(made, example_values(reward, made), strict=True)
    results = ((product.id, product.smiles, f"{value:.4g}") for product, value in pairs)
    table = folder / "measured.csv"
    contents[table] = write_table(table, [("id", "smiles", reward), *results])
    _write(contents, overwrite)
    return tuple(contents)


def _write(contents: Mapping[Path, bytes], overwrite: bool) -> None:
    """Write files into a folder, unless one of these names holds anything else."""
    refuse_others(contents, [*map(digest_of, contents.values())], overwrite, "Choose another folder.")
    for path, content in contents.items():
        make_folder(path.parent)
        replace_file(path, content)
