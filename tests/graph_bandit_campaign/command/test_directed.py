"""Campaigns on directed graphs."""

import numpy as np
import pytest

from agents.contract import BlindAgentWarning
from graph_bandit_campaign import Campaign
from graph_bandit_campaign.pool.index import structure_of
from graph_bandit_env import GraphPool

NODES = np.random.default_rng(0).normal(size=(6, 3, 2))
ARROWS = GraphPool(NODES, [[[0, 1], [2, 1]]] * 6, directed=True)
REVERSED = GraphPool(NODES, [[[1, 0], [1, 2]]] * 6, directed=True)


@pytest.mark.parametrize("agent", ["gnn-ts:width=16,steps=5", "gntk-ucb", "lin-ucb"])
def test_an_agent_that_reads_no_directions_says_so_and_plays_as_on_undirected_graphs(agent):
    campaign, plain = Campaign(ARROWS, agent), Campaign(ARROWS.without_directions(), agent)
    for _ in range(2):
        with pytest.warns(BlindAgentWarning, match="It does not read directions"):
            batch = [suggestion.id for suggestion in campaign.ask(2)]
        assert batch == [suggestion.id for suggestion in plain.ask(2)]
        for number, name in enumerate(batch):
            campaign.tell(name, float(number))
            plain.tell(name, float(number))


def test_an_id_that_names_a_graph_with_other_directions_names_another_graph():
    names = {structure_of(pool, 0) for pool in (ARROWS, REVERSED, ARROWS.without_directions())}
    assert len(names) == 3
