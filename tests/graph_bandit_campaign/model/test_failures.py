"""Campaigns that learn from failures."""

import networkx as nx
import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem.Fragments import fr_C_O
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_env import from_networkx

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
        made.tell({IDS[k]: "failed"})
    else:
        made.tell({IDS[k]: float(MOLECULES.targets[k])})


def chosen(made, count, **settings):
    return [IDS.index(suggestion.id) for suggestion in made.ask(count, **settings)]


def test_molecules_that_are_likely_to_fail_are_not_suggested():
    made = campaign()
    forecast = made.failing()
    assert forecast.teaches
    assert np.array_equal(forecast.likely, FAILS)
    assert not FAILS[chosen(made, int((~FAILS).sum()) - 12)].any()


def test_failures_can_be_ignored():
    made = campaign(ignore_failures=True)
    assert not made.failing().teaches
    assert not made.failing().probability.any()
    assert FAILS[chosen(made, 20)].any()


def test_where_too_few_others_are_left_the_least_likely_to_fail_are_suggested():
    left = int((~FAILS).sum()) - 12
    assert FAILS[chosen(campaign(), left + 3)].sum() == 3
    among = np.zeros(40, np.bool_)
    among[FAILING[3:5]] = True
    assert sorted(chosen(campaign(), 2, among=among)) == np.flatnonzero(among).tolist()


@pytest.mark.parametrize(("failed", "measured"), [(4, 10), (6, 4)])
def test_few_teach_nothing(failed, measured):
    order = [*FAILING[:failed], *np.flatnonzero(~FAILS)[:measured]]
    assert not campaign(order).failing().teaches


def test_failures_without_a_cause_leave_the_others_near_the_share_so_far():
    away, flagged = [], []
    for seed in range(10):
        draws, made = np.random.default_rng(seed), Campaign(MOLECULES, "random")
        order = draws.permutation(40)
        for k in order[:30]:
            if draws.random() < 0.3:
                made.tell({IDS[k]: "failed"})
            else:
                made.tell({IDS[k]: float(MOLECULES.targets[k])})
        forecast = made.failing()
        assert forecast.teaches
        away.append(forecast.probability[order[30:]].mean() - len(made.state.failed) / 30)
        flagged.append(forecast.likely[order[30:]].mean())
    assert np.mean(away) == pytest.approx(0, abs=0.05)
    assert np.mean(flagged) < 0.2


SPECS = ["random", "gp-ucb", "gp-ucb:noise_variance=100", "gp-ucb:forget=3"]


@pytest.mark.parametrize("agent", SPECS)
def test_any_agent_leaves_out_other_graphs_that_are_likely_to_fail(agent):
    graphs = [nx.star_graph(n) for n in range(5, 17)] + [nx.path_graph(n) for n in range(5, 17)]
    pool = from_networkx(graphs, node_attribute=None, ids=[f"g{k}" for k in range(24)])
    made, stars = Campaign(pool, agent), np.arange(24) < 12
    for k in range(0, 24, 2):
        if stars[k]:
            made.tell({pool.ids[k]: "failed"})
        else:
            made.tell({pool.ids[k]: k / 10})
    assert np.array_equal(made.failing().likely, stars)
    assert not {suggestion.id for suggestion in made.ask(6)} & {pool.ids[k] for k in range(12)}


def test_failures_teach_with_several_goals_too():
    made = Campaign(MOLECULES, "molecule-ucb:short_list=20", goals=[Goal("a"), Goal("b", "minimize")])
    for k in LEARNT:
        if FAILS[k]:
            made.tell({IDS[k]: "failed"})
        else:
            made.tell({IDS[k]: float(k % 5)}, goal="a")
            made.tell({IDS[k]: float(k % 3)}, goal="b")
    made.tell({IDS[FAILING[0]]: 1.0}, goal="a")  # it failed in the other assay
    assert np.array_equal(made.failing().likely, FAILS)
    assert not FAILS[chosen(made, 15)].any()
