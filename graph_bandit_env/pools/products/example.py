"""A library of products that needs no download: amides of acids and amines of our own making."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_bandit_env.extras import require
from graph_bandit_env.pools.library import SCAFFOLDS, SUBSTITUENTS, Property, compute_property
from graph_bandit_env.pools.products.library import Part, Product, ProductLibrary, Slot
from graph_bandit_env.pools.products.reaction import Reaction

AMIDE = "[#6:1]C(=O)[OH].[NH2:2][CX4:3]>>[#6:1]C(=O)[N:2][C:3]"
GROUPS = {"acid": "C(=O)O", "amine": "CN"}
REACTING = ("C(=O)O", "CCN", "C(=O)N", "CC(=O)N")  # substituents that react themselves, or look as if they did


def example_library() -> ProductLibrary:
    """Return the amides of some 190 acids and as many amines, with invented prices; always the same ones.

    Raises:
        MissingExtraError: if RDKit is not installed (the extra `chem` installs it).
    """
    require("rdkit", "The library of products")
    from rdkit import Chem

    ends = [end for end in SUBSTITUENTS if end not in REACTING]
    reaction, generator, slots = Reaction("amide", AMIDE), np.random.default_rng(0), []
    for number, (name, group) in enumerate(GROUPS.items()):
        made = [Chem.MolFromSmiles(scaffold.format(group, end)) for scaffold in SCAFFOLDS for end in ends]
        able = (block for block in made if reaction.count_sites(number, block) == 1)
        smiles = tuple(dict.fromkeys(map(Chem.MolToSmiles, able)))
        ids = tuple(f"{name}{k:03d}" for k in range(len(smiles)))
        slots.append(Slot(name=name, ids=ids, smiles=smiles, prices=generator.lognormal(3, 0.5, len(ids)).round(1)))
    return ProductLibrary([Part(reaction=reaction, slots=tuple(slots))])


def example_values(reward: Property, products: Sequence[Product]) -> list[float]:
    """Return the property that stands for a measurement, for each of some products that were made.

    Args:
        reward: as for `enumerate_library`.
        products: the products.
    """
    return compute_property(reward, [product.smiles for product in products])
