"""A library of products, of which only those that are looked at are made."""

from dataclasses import replace

import numpy as np
import pytest

from graph_bandit_campaign import Campaign
from graph_bandit_campaign.model.made import ProductPool
from graph_bandit_env.pools.products import Part, ProductLibrary, Reaction, Slot, example_library

pytest.importorskip("rdkit")
WHOLE = example_library().parts[0]
LIBRARY = ProductLibrary(
    [replace(WHOLE, slots=tuple(replace(s, ids=s.ids[:40], smiles=s.smiles[:40], prices=None) for s in WHOLE.slots))]
)


def amides(acids, amines):
    """A library of given blocks."""
    reaction = Reaction("amide", LIBRARY.parts[0].reaction.smarts)
    slots = [
        Slot(name=name, ids=tuple(f"{name}{k}" for k in range(len(smiles))), smiles=tuple(smiles))
        for name, smiles in (("acid", acids), ("amine", amines))
    ]
    return ProductLibrary([Part(reaction=reaction, slots=tuple(slots))])


def test_equal_products_are_one_molecule_that_is_known_by_both_names():
    molecules = ProductPool(amides(["CC(=O)O", "OC(=O)C"], ["NC"])).take(np.arange(2))
    assert (len(molecules), molecules.aliases) == (1, {"acid1+amine0": "acid0+amine0"})


def test_products_that_cannot_be_made_are_left_out():
    pool = ProductPool(amides(["OC(=O)CC(F)C(=O)O", "CC(=O)O"], ["NC"]))
    assert pool.take(np.arange(1)) is None
    assert pool.one().ids == ("acid1+amine0",)


def test_the_model_learns_how_much_blocks_tell():
    blocks = LIBRARY.blocks_of(np.arange(len(LIBRARY)))
    generator = np.random.default_rng(0)
    effects = [generator.normal(size=size) for size in LIBRARY.parts[0].sizes]
    values = effects[0][blocks[:, 0]] + effects[1][blocks[:, 1]]
    pool, shares = ProductPool(LIBRARY), []
    molecules = pool.take(LIBRARY.draw(160, generator))
    for told in (values, generator.permutation(values)):
        results = {name: float(told[LIBRARY.number_of(name)]) for name in molecules.ids}
        known = Campaign(molecules)
        known.tell(results)
        campaign = Campaign(pool.add_forecasts(molecules, known.state), "molecule-ucb")
        campaign.tell(results)
        shares.append(campaign.shares()["building blocks"])
    assert shares[0] > 0.5 > shares[1]
