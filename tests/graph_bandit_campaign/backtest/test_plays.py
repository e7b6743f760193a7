import dataclasses

import numpy as np
import pytest
from support.molecules import some_molecules

import registry
from agents.contract import SourceResults
from graph_bandit_campaign.backtest.players import ALONE, FOREST, SIMILARITY, agent_of, make_player
from graph_bandit_campaign.backtest.plays import Task, play, random_order
from graph_bandit_campaign.backtest.table import Table
from graph_bandit_env import from_smiles

MOLECULES = some_molecules(40)
TABLE = Table(MOLECULES, MOLECULES.targets, maximize=True, start=5, budget=15)
OTHER = SourceResults("other", [*MOLECULES.smiles[::2], "CCCCCCCCO"], np.r_[3 * MOLECULES.targets[::2], 0.0])
TAUGHT = dataclasses.replace(TABLE, sources=(OTHER,))


@pytest.mark.parametrize("player", ["molecule-ucb", "random", SIMILARITY, FOREST, "ucb1"])
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


def test_similarity_chooses_homologues_of_the_best():
    molecules = from_smiles(["c1ccccc1", "CCCCCCCC", "CCCCCCCCC", "c1ccncc1", "CCCCCCCCCC", "O=C(O)c1ccccc1"])
    player = make_player(SIMILARITY)
    player.begin(molecules, 0)
    chosen = player.choose(np.array([0, 1]), np.array([0.0, 1.0]), 2)
    assert set(chosen.tolist()) == {2, 4}


def test_nothing_is_forecast_while_all_results_are_equal():
    flat = Table(MOLECULES, np.r_[1.0, np.zeros(39)], maximize=True, start=5, budget=9)
    start = next(k for k in range(20) if 0 not in random_order(40, 0, k)[:5])
    assert np.isnan(play(flat, Task("molecule-ucb", 4, start), seed=0).probabilities).all()


def test_an_agent_learns_from_other_assays_before_it_chooses():
    """The same calls by hand, without the code of a play."""
    played = play(TAUGHT, Task("molecule-greedy", 4, 0), seed=0)
    agent = registry.make_agent("molecule-greedy")
    agent.reset(None, seed=0, graph_set=MOLECULES)
    agent.learn_sources([OTHER])
    order = played.order[:5].tolist()
    agent.update(None, np.array(order), MOLECULES.targets[order])
    mask = np.ones(40, np.int8)
    mask[order] = 0
    assert set(agent.select_batch(None, 4, mask)) == set(played.order[5:9].tolist())
    assert not np.array_equal(played.order, play(TABLE, Task("molecule-greedy", 4, 0), seed=0).order)


@pytest.mark.parametrize("agent", ["molecule-ts", "molecule-ucb:exploration_scale=0.3"])
def test_an_agent_without_other_assays_plays_as_if_there_were_none(agent):
    alone, before = play(TAUGHT, Task(agent + ALONE, 4, 1), seed=3), play(TABLE, Task(agent, 4, 1), seed=3)
    assert np.array_equal(alone.order, before.order)
    assert np.array_equal(alone.probabilities, before.probabilities, equal_nan=True)
    assert agent_of(agent + ALONE) == agent


def test_other_assays_teach_players_that_are_no_agents_nothing():
    plays_of = [play(table, Task(SIMILARITY, 4, 0), seed=0).order for table in (TABLE, TAUGHT)]
    assert np.array_equal(*plays_of)


@pytest.mark.filterwarnings("ignore::agents.contract.BlindAgentWarning")
def test_an_agent_that_cannot_read_molecules_outside_the_table_is_refused_by_name():
    with pytest.raises(ValueError, match=r"Agent `lin-ucb` cannot learn from .* other assays: .* leave out --also"):
        play(TAUGHT, Task("lin-ucb", 4, 0), seed=0)
