import numpy as np
import pytest
from support.molecules import some_molecules

import registry
from graph_bandit_campaign.backtest.plays import Task, play, random_order
from graph_bandit_campaign.backtest.table import Table

MOLECULES = some_molecules(40)
TABLE = Table(MOLECULES, MOLECULES.targets, maximize=True, start=5, budget=15)


@pytest.mark.parametrize("player", ["molecule-ucb", "random", "ucb1"])
def test_every_player_measures_different_molecules_after_the_same_start(player):
    played = play(TABLE, Task(player, 4, 2), seed=7)  # batches of 4, 4 and 2
    assert len(np.unique(played)) == 15
    assert np.array_equal(played[:5], random_order(40, 7, 2)[:5])
    assert np.array_equal(played, play(TABLE, Task(player, 4, 2), seed=7))


def test_a_play_is_what_the_agent_chooses_by_its_own_contract():
    """The same calls by hand, without the code of a play."""
    played = play(TABLE, Task("molecule-greedy", 4, 0), seed=0)
    agent = registry.make_agent("molecule-greedy")
    agent.reset(None, seed=0, graph_set=MOLECULES)
    order = played[:5].tolist()
    agent.update(None, np.array(order), MOLECULES.targets[order])
    mask = np.ones(40, np.int8)
    mask[order] = 0
    assert set(agent.select_batch(None, 4, mask)) == set(played[5:9].tolist())
