"""Campaigns on a library of products, of which only those that are looked at are made."""

import numpy as np
import pytest

from graph_bandit_campaign import Campaign, Goal, Limits
from graph_bandit_campaign.model.made import MadeProducts, add_forecasts, can_be_made, read_products
from graph_bandit_campaign.model.products import BlockBeliefs, read_kernels
from graph_bandit_env import from_smiles
from graph_bandit_env.pools.products import Part, ProductLibrary, Reaction, Slot, example_library

pytest.importorskip("rdkit")
LIBRARY = example_library()
PRODUCTS = LIBRARY.make(range(20))


def amides(acids, amines):
    """A library of given blocks."""
    reaction = Reaction("amide", LIBRARY.parts[0].reaction.smarts)
    slots = [
        Slot(name=name, ids=tuple(f"{name}{k}" for k in range(len(smiles))), smiles=tuple(smiles))
        for name, smiles in (("acid", acids), ("amine", amines))
    ]
    return ProductLibrary([Part(reaction=reaction, slots=tuple(slots))])


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
    for count in (60, 20, 20):
        campaign.tell_many({suggestion.id: value(suggestion.id) for suggestion in campaign.ask(count)})
    every = np.add.outer(*effects)
    assert campaign.best > np.quantile(every, 0.99)
    assert len(campaign.ids) < 2000


def test_a_product_can_be_told_before_it_was_looked_at_and_a_file_continues(state):
    campaign = Campaign(LIBRARY, state=state)
    campaign.tell(PRODUCTS[3].id, 2.0)
    campaign.tell_failed(PRODUCTS[4].id)
    asked = [suggestion.id for suggestion in campaign.ask(3)]
    continued = Campaign(LIBRARY, state=state)
    assert continued.state == campaign.state
    assert {PRODUCTS[3].id, PRODUCTS[4].id, *asked} <= {*continued.ids}
    continued.tell(asked[0], 1.0)
    assert not {*asked, PRODUCTS[3].id, PRODUCTS[4].id} & {suggestion.id for suggestion in continued.ask(5)}


def test_equal_campaigns_choose_equal_products():
    def play():
        campaign = Campaign(LIBRARY, seed=3)
        campaign.tell_many({product.id: float(k % 7) for k, product in enumerate(PRODUCTS)})
        return campaign.ask(4)

    assert play() == play()


def test_limits_hold_for_products_that_are_chosen():
    campaign = Campaign(LIBRARY)
    chosen = campaign.ask(20, among=Limits(["mw<250"], ["[F,Cl]"]))
    molecules = from_smiles([*chosen.smiles.values()])
    assert Limits(["mw<250"], ["[F,Cl]"]).mask(molecules).all()


def test_limits_are_taken_where_molecules_are_listed_too():
    molecules = from_smiles([product.smiles for product in PRODUCTS])
    mask = Limits(["mw<250"]).mask(molecules)
    asked = [Campaign(molecules).ask(2, among=among) for among in (mask, Limits(["mw<250"]))]
    assert asked[0] == asked[1]


def test_what_a_library_cannot_do_is_refused(state):
    campaign = Campaign(LIBRARY, state=state)
    before = campaign.state
    with pytest.raises(TypeError, match="`Limits`, or None"):
        campaign.ask(2, among=[True])
    with pytest.raises(ValueError, match="id of a product of the library. Got 'acid000"):
        campaign.tell("acid000+acid001", 1.0)
    with pytest.raises(ValueError, match="one goal"):
        Campaign(LIBRARY, goals=[Goal("a", "maximize"), Goal("b", "minimize")])
    with pytest.raises(ValueError, match="never listed"):
        Campaign(LIBRARY, offered=[True])
    assert campaign.state == before


def test_a_product_that_cannot_be_made_is_refused_with_the_reason():
    library = amides(["CC(=O)O", "OC(=O)CC(F)C(=O)O"], ["NC", "NCC"])
    campaign = Campaign(library)
    with pytest.raises(ValueError, match="`acid1.amine0` cannot: the blocks give 2 products"):
        campaign.tell("acid1+amine0", 1.0)
    assert {suggestion.id for suggestion in campaign.ask(2)} == {"acid0+amine0", "acid0+amine1"}


def test_a_library_in_which_nothing_reacts_is_refused():
    with pytest.raises(ValueError, match="Expected blocks that react. Of the first 2 products none is made"):
        Campaign(amides(["CC"], ["NC", "NCC"]))


def test_equal_products_are_one_molecule_that_is_known_by_both_names():
    library = amides(["CC(=O)O", "OC(=O)C"], ["NC"])
    molecules = read_products(library, can_be_made(library, np.arange(2)))
    assert (len(molecules), molecules.aliases) == (1, {"acid1+amine0": "acid0+amine0"})
    campaign = Campaign(library)
    campaign.tell("acid1+amine0", 2.0)
    assert campaign.state.means() == {"acid0+amine0": 2.0}


def test_what_was_offered_and_not_chosen_is_not_kept_in_memory():
    campaign = Campaign(LIBRARY)
    campaign.ask(2)
    made = MadeProducts(LIBRARY, campaign.state)
    assert {*made.molecules.ids} == {suggestion.id for suggestion in campaign.state.rounds[0]}


def test_the_model_learns_how_much_blocks_tell():
    blocks = LIBRARY.blocks_of(np.arange(len(LIBRARY)))
    generator = np.random.default_rng(0)
    effects = [generator.normal(size=size) for size in LIBRARY.parts[0].sizes]
    values = effects[0][blocks[:, 0]] + effects[1][blocks[:, 1]]
    shares = []
    for told in (values, generator.permutation(values)):
        campaign = Campaign(LIBRARY, seed=0)
        for _ in range(2):
            ids = [suggestion.id for suggestion in campaign.ask(400)]
            campaign.tell_many({name: float(told[LIBRARY.number_of(name)]) for name in ids})
        campaign.ask(1)
        shares.append(campaign.shares()["building blocks"])
    assert shares[0] > 0.5 > shares[1]


def test_an_agent_that_reads_no_columns_is_given_none():
    campaign = Campaign(LIBRARY, "molecule-ucb:columns_weight=0")
    campaign.tell_many({product.id: float(k) for k, product in enumerate(PRODUCTS)})
    campaign.ask(2)
    assert not campaign.graph_set.column_names
    assert "building blocks" not in campaign.shares()


def test_molecules_outside_of_the_library_have_no_forecast():
    outside = from_smiles(["CCO"], ids=["ethanol"])
    inside = from_smiles([PRODUCTS[5].smiles], ids=[PRODUCTS[5].id])
    beliefs = BlockBeliefs(LIBRARY, read_kernels(LIBRARY), [0, 700], [1.0, 2.0])
    shown = add_forecasts(inside.join(outside), beliefs)
    assert np.isfinite(shown.columns[0, 0])
    assert np.isnan(shown.columns[1, 0])


def test_limits_that_cannot_be_read_change_nothing():
    campaign = Campaign(LIBRARY)
    first = campaign.ask(2)
    ids, made = campaign.ids, campaign._made.molecules
    with pytest.raises(ValueError, match="to name a column"):
        campaign.ask(2, among=Limits(["stock<500"]))
    assert campaign._made.molecules is made
    assert campaign.ids == ids
    campaign.tell(first[0].id, 1.0)


def test_many_results_teach_a_campaign_no_more_before_it_is_asked_than_after(state, monkeypatch):
    monkeypatch.setattr("graph_bandit_campaign.campaign.MOST_TAUGHT", 6)
    campaign = Campaign(LIBRARY, state=state)
    campaign.tell_many({product.id: float(k) for k, product in enumerate(PRODUCTS)})
    assert campaign.model().results.num_results == 6
    assert Campaign(LIBRARY, state=state).model().results.num_results == 6


def test_blocks_that_are_other_molecules_now_are_refused(state):
    campaign = Campaign(amides(["CC(=O)O"], ["NC", "NCC"]), state=state)
    (chosen,) = campaign.ask(1)
    campaign.tell(chosen.id, 2.0)
    with pytest.raises(ValueError, match=f"Expected `{chosen.id.replace('+', '.')}` to be "):
        Campaign(amides(["CCCC(=O)O"], ["NC", "NCC"]), state=state)
    assert Campaign(amides(["OC(C)=O"], ["CN", "CCN"]), state=state).best == 2.0
