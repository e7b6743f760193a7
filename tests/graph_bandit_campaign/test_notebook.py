"""Suggestions and predictions in notebooks, and as tables."""

import copy
import pickle

import numpy as np
import pytest

from graph_bandit_campaign import Campaign, Goal, Suggestions, draw_molecule
from graph_bandit_env import GraphPool, from_smiles

SMILES = ["CCO", "CCN", "CCCl", "CCCO", "CCCN", "c1ccccc1"]
POOL = from_smiles(SMILES, ids=[f"<b>{k}" for k in range(6)])


def begin(pool=POOL, agent="molecule-ucb", **settings):
    campaign = Campaign(pool, agent, **settings)
    for goal in [each.name for each in campaign.state.goals] or [""]:
        campaign.tell({campaign.ids[0]: 1.0, campaign.ids[1]: 2.0, campaign.ids[2]: 1.5}, goal)
    return campaign


def test_a_batch_is_a_tuple_with_a_table_of_its_numbers():
    campaign = begin()
    batch = campaign.ask(2)
    assert isinstance(batch, tuple)
    assert batch == campaign.state.rounds[-1]
    assert type(campaign.state.rounds[-1]) is tuple
    first, second = batch
    frame = batch.to_frame()
    assert list(frame) == ["id", "smiles", "mean", "std", "low", "high", "probability"]
    assert frame["id"].tolist() == [first.id, second.id]
    assert frame["smiles"].tolist() == [POOL.smiles[POOL.ids.index(each.id)] for each in batch]
    assert frame["low"].tolist() == [first.low, second.low]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_copies_keep_their_molecules(copied):
    campaign = begin()
    for made in (campaign.ask(2), campaign.predict()):
        again = copied(made)
        assert (again, type(again), again.smiles) == (made, type(made), made.smiles)


def test_predictions_are_a_dict_with_a_table():
    predictions = begin().predict()
    assert isinstance(predictions, dict)
    frame = predictions.to_frame().set_index("id")
    assert frame["smiles"].tolist() == list(POOL.smiles)
    assert all(predictions[name].mean == frame["mean"][name] for name in POOL.ids)


def test_a_notebook_shows_drawn_molecules_and_escapes_names():
    page = begin().ask(2)._repr_html_()
    assert page.count("<svg") == 2
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_several_goals_have_columns_of_their_own():
    frame = begin(goals=[Goal("a"), Goal("b", "limit", high=3)]).ask(2).to_frame()
    assert {"mean_a", "high_b", "probability_b", "probability"} <= set(frame)
    assert "mean" not in frame


def test_other_graphs_and_agents_without_predictions_have_tables_too():
    pool = GraphPool([[[1.0]], [[2.0]], [[3.0]], [[4.0]]], [[]] * 4)
    batch = begin(pool, "random").ask(1)
    assert list(batch.to_frame()) == ["id", "mean", "std", "low", "high", "probability"]
    assert np.isnan(batch.to_frame()["mean"][0])
    assert "<svg" not in batch._repr_html_()
    assert len(Suggestions().to_frame()) == 0
    assert "<table" in Suggestions()._repr_html_()
    campaign = begin(POOL.take([0, 1, 2]))
    last = campaign.ask(2)
    assert len(last) == len(campaign.state.rounds) == 0
    assert repr(last) == last.note == copy.deepcopy(last).note
    assert "&lt;b&gt;1" in last._repr_html_()  # the best


def test_atoms_are_drawn_with_discs_and_the_largest_scores():
    drawn = draw_molecule("CCO", (200, 120), (0.5, -0.25, 0.0))
    assert drawn.count("<ellipse") == 2
    assert draw_molecule("CCO", (200, 120)).count("<ellipse") == 0
    with pytest.raises(ValueError, match="3 atoms"):
        draw_molecule("CCO", (200, 120), (0.5,))
