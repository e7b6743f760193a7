"""Campaigns on a library of products, of which only those that are looked at are made."""

from dataclasses import replace

import numpy as np
import pytest

from graph_bandit_campaign import Campaign, Limits
from graph_bandit_campaign.model import made
from graph_bandit_campaign.model.made import ProductPool
from graph_bandit_env import from_smiles
from graph_bandit_env.pools.products import Part, ProductLibrary, Reaction, Slot, example_library

pytest.importorskip("rdkit")
WHOLE = example_library().parts[0]
LIBRARY = ProductLibrary(
    [replace(WHOLE, slots=tuple(replace(s, ids=s.ids[:40], smiles=s.smiles[:40], prices=None) for s in WHOLE.slots))]
)
PRODUCTS = LIBRARY.make(range(20))


def amides(acids, amines):
    """A library of given blocks."""
    reaction = Reaction("amide", LIBRARY.parts[0].reaction.smarts)
    slots = [
        Slot(name=name, ids=tuple(f"{name}{k}" for k in range(len(smiles))), smiles=tuple(smiles))
        for name, smiles in (("acid", acids), ("amine", amines))
    ]
    return ProductLibrary([Part(reaction=reaction, slots=tuple(slots))])


@pytest.fixture(autouse=True)
def short_lists(monkeypatch):
    """Let few products be made for each choice."""
    monkeypatch.setattr(made, "FIRST_LIST", 100)


@pytest.fixture
def state(tmp_path):
    return tmp_path / "amides.campaign.json"


def test_a_loop_of_asking_and_telling_finds_better_products_than_chance():
    generator = np.random.default_rng(0)
    effects = [generator.normal(size=size) for size in LIBRARY.parts[0].sizes]

    def value(identifier):
        blocks = LIBRARY.blocks_of([LIBRARY.number_of(identifier)])[0]
        return float(effects[0][blocks[0]] + effects[1][blocks[1]])

    campaign = Campaign(LIBRARY, seed=0)
    for count in (30, 10):
        campaign.tell({suggestion.id: value(suggestion.id) for suggestion in campaign.ask(count)})
    every = np.add.outer(*effects)
    assert campaign.best > np.quantile(every, 0.95)
    assert len(campaign.ids) < 300


def test_a_product_can_be_told_before_it_was_looked_at_and_a_file_continues(state):
    campaign = Campaign(LIBRARY, state=state)
    campaign.tell({PRODUCTS[3].id: 2.0})
    campaign.tell({PRODUCTS[4].id: "failed"})
    asked = [suggestion.id for suggestion in campaign.ask(3)]
    continued = Campaign(LIBRARY, state=state)
    assert continued.state == campaign.state
    assert {PRODUCTS[3].id, PRODUCTS[4].id, *asked} <= {*continued.ids}
    continued.tell({asked[0]: 1.0})
    assert not {*asked, PRODUCTS[3].id, PRODUCTS[4].id} & {suggestion.id for suggestion in continued.ask(5)}


def test_limits_hold_for_products_that_are_chosen():
    campaign = Campaign(LIBRARY)
    chosen = campaign.ask(2, among=Limits(["mw<250"], ["[F,Cl]"]))
    molecules = from_smiles([*chosen.smiles.values()])
    assert Limits(["mw<250"], ["[F,Cl]"]).mask(molecules).all()


def test_a_product_that_cannot_be_made_is_refused_with_the_reason():
    library = amides(["CC(=O)O", "OC(=O)CC(F)C(=O)O"], ["NC", "NCC"])
    campaign = Campaign(library)
    with pytest.raises(ValueError, match="`acid1.amine0`"):
        campaign.tell({"acid1+amine0": 1.0})
    assert {suggestion.id for suggestion in campaign.ask(2)} == {"acid0+amine0", "acid0+amine1"}


def test_equal_products_are_one_molecule_that_is_known_by_both_names():
    library = amides(["CC(=O)O", "OC(=O)C"], ["NC"])
    molecules = ProductPool(library).take(np.arange(2))
    assert (len(molecules), molecules.aliases) == (1, {"acid1+amine0": "acid0+amine0"})
    campaign = Campaign(library)
    campaign.tell({"acid1+amine0": 2.0})
    assert campaign.state.means() == {"acid0+amine0": 2.0}


@pytest.mark.slow
def test_the_model_learns_how_much_blocks_tell():
    blocks = LIBRARY.blocks_of(np.arange(len(LIBRARY)))
    generator = np.random.default_rng(0)
    effects = [generator.normal(size=size) for size in LIBRARY.parts[0].sizes]
    values = effects[0][blocks[:, 0]] + effects[1][blocks[:, 1]]
    shares = []
    for told in (values, generator.permutation(values)):
        campaign = Campaign(LIBRARY, seed=0)
        for _ in range(2):
            ids = [suggestion.id for suggestion in campaign.ask(80)]
            campaign.tell({name: float(told[LIBRARY.number_of(name)]) for name in ids})
        campaign.ask(1)
        shares.append(campaign.shares()["building blocks"])
    assert shares[0] > 0.5 > shares[1]
