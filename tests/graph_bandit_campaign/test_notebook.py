"""Suggestions in notebooks, and as tables."""

import copy
import pickle

import pandas as pd
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


def test_a_batch_is_a_tuple_of_which_pandas_makes_a_table():
    campaign = begin()
    batch = campaign.ask(2)
    assert isinstance(batch, tuple)
    assert batch == campaign.state.rounds[-1]
    assert type(campaign.state.rounds[-1]) is tuple
    for entries in (batch, campaign.predict().values()):
        assert pd.DataFrame(entries)["low"].tolist() == [each.low for each in entries]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_copies_keep_their_molecules(copied):
    made = begin().ask(2)
    again = copied(made)
    assert (again, type(again), again.smiles) == (made, type(made), made.smiles)


def test_a_notebook_shows_drawn_molecules_and_escapes_names():
    page = begin().ask(2)._repr_html_()
    assert page.count("<svg") == 2
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_several_goals_have_columns_of_their_own():
    page = begin(goals=[Goal("a"), Goal("<b>", "limit", high=3)]).ask(2)._repr_html_()
    assert "<th>mean &lt;b&gt;</th>" in page
    assert "<th>mean</th>" not in page


def test_other_graphs_and_an_empty_batch_are_shown_too():
    pool = GraphPool([[[1.0]], [[2.0]], [[3.0]], [[4.0]]], [[]] * 4)
    assert "<svg" not in begin(pool, "random").ask(1)._repr_html_()
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
