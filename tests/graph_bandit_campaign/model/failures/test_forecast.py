"""Campaigns that learn from failures."""

from itertools import product

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem.Fragments import fr_C_O
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.model.failures.forecast import FailureForecast
from graph_bandit_env import GraphPool, from_smiles

MOLECULES = some_molecules(40)
IDS = MOLECULES.ids
FAILS = np.array([fr_C_O(Chem.MolFromSmiles(text)) > 0 for text in MOLECULES.smiles])
FAILING = np.flatnonzero(FAILS)
LEARNT = [*FAILING[:3], *FAILING[-3:], *np.flatnonzero(~FAILS)[:12]]


def campaign(order=LEARNT, **settings):
    made = Campaign(MOLECULES, "molecule-greedy", **settings)
    for k in order:
        tell(made, k)
    return made


def tell(made, k):
    if FAILS[k]:
        made.tell_failed(IDS[k])
    else:
        made.tell(IDS[k], float(MOLECULES.targets[k]))


def chosen(made, count, **settings):
    return [IDS.index(suggestion.id) for suggestion in made.ask(count, **settings)]


def test_molecules_that_are_likely_to_fail_are_not_suggested():
    made = campaign()
    forecast = made.failing()
    assert forecast.teaches
    assert np.array_equal(forecast.likely, FAILS)
    assert np.allclose(forecast.odds, 1 - forecast.probability)
    assert not FAILS[chosen(made, int((~FAILS).sum()) - 12)].any()


def test_the_sentence_says_what_they_have_in_common():
    mask = np.ones(40, np.bool_)
    sentence = campaign().failing().sentence(mask)
    assert sentence.startswith(
        f"{FAILS.sum()} molecules are likely to fail (with more than 50 %). Failed so far: 6 of 6 "
    )
    assert sentence.endswith(", 0 of 12 others.")
    assert campaign().failing().sentence(~mask).startswith("No molecule is likely to fail. Failed so far: ")


def test_failures_can_be_ignored():
    made = campaign(ignore_failures=True)
    assert not made.failing().teaches
    assert not made.failing().probability.any()
    assert not made.failing().sentence(np.ones(40, np.bool_))
    assert FAILS[chosen(made, 20)].any()


def test_where_too_few_others_are_left_the_least_likely_to_fail_are_suggested():
    left = int((~FAILS).sum()) - 12
    assert FAILS[chosen(campaign(), left + 3)].sum() == 3
    among = np.zeros(40, np.bool_)
    among[FAILING[3:5]] = True
    assert sorted(chosen(campaign(), 2, among=among)) == np.flatnonzero(among).tolist()


def test_more_than_half_may_fail_before_all_are_likely_to():
    forecast = FailureForecast(np.array([0.6, 0.62, 0.9, 0.1]), "a cause", share=0.6)
    assert forecast.likely.tolist() == [False, False, True, False]
    assert "more than 70 %" in forecast.sentence(np.full(4, True))


def test_molecules_that_no_feature_tells_apart_have_no_cause():
    signs = list(product(("@", "@@"), repeat=4))
    pool = from_smiles([f"CC[C{a}H](O)[C{b}H](N)[C{c}H](F)[C{d}H](C)Cl" for a, b, c, d in signs])
    campaign = Campaign(pool)
    for number, smiles in enumerate(pool.smiles[:13]):
        if number < 8:
            campaign.tell_failed(smiles)
        else:
            campaign.tell(smiles, float(number))
    assert campaign.failing().cause.startswith("No cause was found")
    assert not campaign.failing().likely.any()


@pytest.mark.parametrize(("failed", "measured"), [(4, 10), (6, 4)])
def test_few_teach_nothing(failed, measured):
    order = [*FAILING[:failed], *np.flatnonzero(~FAILS)[:measured]]
    assert not campaign(order).failing().teaches


def test_the_order_in_which_results_came_does_not_matter():
    assert chosen(campaign(), 5) == chosen(campaign(LEARNT[::-1]), 5)


def test_graphs_that_are_not_molecules_teach_nothing():
    made = Campaign(GraphPool([[[float(k)]] for k in range(20)], [[]] * 20), "random")
    for k in range(6):
        made.tell_failed(str(k))
        made.tell(str(k + 6), float(k))
    assert not made.failing().teaches
    assert len(made.ask(3)) == 3


def test_a_failure_that_turns_out_well_is_forgotten():
    made = campaign()
    for k in FAILING[:2]:
        made.tell(IDS[k], 1.0)
    assert not made.failing().teaches


def test_random_failures_have_no_cause():
    made = Campaign(MOLECULES, "random")
    for k, draw in enumerate(np.random.default_rng(0).random(30)):
        if draw < 0.3:
            made.tell_failed(IDS[k])
        else:
            made.tell(IDS[k], float(k))
    sentence = made.failing().sentence(np.ones(40, np.bool_))
    assert sentence.startswith(
        "No molecule is likely to fail. No cause was found: they fail at random with a probability of "
    )


def test_one_molecule_is_one():
    forecast = FailureForecast(np.array([0.9, 0.6, 0.1]), "A cause.")
    sentence = "1 molecule is likely to fail (with more than 50 %). A cause."
    assert forecast.sentence(np.array([True, False, True])) == sentence


def test_failures_teach_with_several_goals_too():
    made = Campaign(MOLECULES, "molecule-ucb:short_list=20", goals=[Goal("a"), Goal("b", "minimize")])
    for k in LEARNT:
        if FAILS[k]:
            made.tell_failed(IDS[k])
        else:
            made.tell(IDS[k], float(k % 5), goal="a")
            made.tell(IDS[k], float(k % 3), goal="b")
    made.tell(IDS[FAILING[0]], 1.0, goal="a")  # it failed in the other assay
    assert np.array_equal(made.failing().likely, FAILS)
    assert not FAILS[chosen(made, 15)].any()
