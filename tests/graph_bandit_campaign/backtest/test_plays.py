import dataclasses

import numpy as np
import pytest
from support.molecules import some_molecules

import registry
from agents.contract import SourceResults
from graph_bandit_campaign.backtest.plays import ALONE, Task, play, random_order
from graph_bandit_campaign.backtest.settings import FOREST, SIMILARITY
from graph_bandit_campaign.backtest.table import Table

MOLECULES = some_molecules(40)
TABLE = Table(MOLECULES, MOLECULES.targets, maximize=True, start=5, budget=15)
OTHER = SourceResults("other", [*MOLECULES.smiles[::2], "CCCCCCCCO"], np.r_[3 * MOLECULES.targets[::2], 0.0])
TAUGHT = dataclasses.replace(TABLE, sources=(OTHER,))


@pytest.mark.parametrize(
    "player", ["molecule-ucb", "random", SIMILARITY, pytest.param(FOREST, marks=pytest.mark.slow), "ucb1"]
)
def test_every_player_measures_different_molecules_after_the_same_start(player):
    if player == FOREST:
        pytest.importorskip("sklearn")
    played = play(TABLE, Task(player, 4, 2), seed=7)  # batches of 4, 4 and 2
    assert len(np.unique(played.order)) == 15
    assert np.array_equal(played.order[:5], random_order(40, 7, 2)[:5])
    again = play(TABLE, Task(player, 4, 2), seed=7)
    assert np.array_equal(played.order, again.order)
    told = np.isfinite(played.probabilities)
    assert told.tolist() == [False] * 5 + [player == "molecule-ucb"] * 10


def test_a_play_is_what_the_agent_chooses_by_its_own_contract():
    """The same calls by hand, without the code of a play."""
    played = play(TABLE, Task("molecule-greedy", 4, 0), seed=0)
    agent = registry.make_agent("molecule-greedy")
    agent.reset(None, seed=0, graph_set=MOLECULES)
    order = played.order[:5].tolist()
    agent.update(None, np.array(order), MOLECULES.targets[order])
    mask = np.ones(40, np.int8)
    mask[order] = 0
    assert set(agent.select_batch(None, 4, mask)) == set(played.order[5:9].tolist())
    best = max(MOLECULES.targets[order])
    assert played.probabilities[5:9] == pytest.approx(agent.predict().probability_above(best)[played.order[5:9]])


@pytest.mark.parametrize("agent", ["molecule-ts", "molecule-ucb:exploration_scale=0.3"])
def test_an_agent_without_other_assays_plays_as_if_there_were_none(agent):
    alone, before = play(TAUGHT, Task(agent + ALONE, 4, 1), seed=3), play(TABLE, Task(agent, 4, 1), seed=3)
    assert np.array_equal(alone.order, before.order)
    assert np.array_equal(alone.probabilities, before.probabilities, equal_nan=True)
