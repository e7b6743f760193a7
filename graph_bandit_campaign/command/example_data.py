"""Write an example pool and a few results for `graph-bandit suggest`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import numpy as np

from graph_bandit_campaign.command.reactions import COLUMNS, example_reactions
from graph_bandit_campaign.report.tables import write_table
from graph_bandit_campaign.store import digest_of, refuse_others
from graph_bandit_env import enumerate_library
from graph_bandit_env.pools.products import Reaction, example_library, example_values
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


def write_example_data(
    folder: Path,
    reward: Literal["qed", "logp", "tpsa"],
    measured: int = 30,
    seed: int = 0,
    overwrite: bool = False,
    products: bool = False,
    reactions: bool = False,
) -> tuple[Path, ...]:
    """Write pool.csv (id, smiles) of the enumerated library, and measured.csv (id, smiles, the property).

    Args:
        folder: folder of the files, created if it does not exist.
        reward: property, computed by RDKit, that is used as the measurement.
        measured: number of molecules with a result.
        seed: seed for drawing these molecules.
        overwrite: if True, existing files with these names are replaced.
        products: if True, write a library of products instead: library.toml with acids.csv and amines.csv.
        reactions: if True, write reactions instead: reactions.csv, and lab.csv with the yields of all reactions.

    Returns:
        The paths of the files.

    Raises:
        ImportError: if RDKit is not installed (the extra `chem` installs it).
        ValueError: if there are fewer molecules than `measured`, or an existing file with such a name has other
            content. No file is written then.
    """
    contents, generator = dict[Path, bytes](), np.random.default_rng(seed)
    if reactions:
        every = example_reactions(generator)
        pool, lab = folder / "reactions.csv", folder / "lab.csv"
        contents[pool] = write_table(pool, [COLUMNS, *(cells for cells, _ in every)])
        contents[lab] = write_table(lab, [("id", "yield"), *((cells[0], f"{value:g}") for cells, value in every)])
        rows = [every[k] for k in generator.choice(len(every), measured, replace=False)]
    elif products:
        library = example_library()
        (part,) = library.parts
        contents[folder / "library.toml"] = LIBRARY.format(smarts=cast(Reaction, part.reaction).smarts).encode()
        for slot in part.slots:
            blocks = zip(slot.names, slot.spelt, [] if slot.prices is None else map(str, slot.prices), strict=True)
            table = folder / f"{slot.name}s.csv"
            contents[table] = write_table(table, [("id", "smiles", "price"), *blocks])
        drawn = library.make(library.draw(2 * measured, generator))
        made = [product for product in drawn if product.smiles][:measured]
        rows = [*zip(((each.id, each.smiles) for each in made), example_values(reward, made), strict=True)]
    else:
        molecules = enumerate_library(reward)
        named = [(f"lib-{k:04d}", smiles) for k, smiles in enumerate(molecules.smiles)]
        contents[folder / "pool.csv"] = write_table(folder / "pool.csv", [("id", "smiles"), *named])
        index = generator.choice(len(molecules), measured, replace=False)
        rows = [(named[k], molecules.targets[k]) for k in index]
    results, table = [(*names, f"{value:.4g}") for names, value in rows], folder / "measured.csv"
    heads = (*COLUMNS, "yield") if reactions else ("id", "smiles", reward)
    contents[table] = write_table(table, [heads, *results])
    refuse_others(contents, [*map(digest_of, contents.values())], overwrite, "Choose another folder.")
    for path, content in contents.items():
        make_folder(path.parent)
        replace_file(path, content)
    return tuple(contents)
