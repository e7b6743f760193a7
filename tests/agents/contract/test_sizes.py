"""Agents refuse more graphs than memory or time allow, before they compute anything."""

import pytest
from support.graphs import ragged_graphs

import registry
from graph_bandit_env import GraphSet

GRAPHS = GraphSet.from_pyg(ragged_graphs())


@pytest.mark.parametrize("name", ["gntk-ts", "gntk-ucb", "wl-ts", "gp-ts", "lin-ucb"])
def test_an_exact_process_takes_any_number_of_graphs_by_columns_and_short_lists(name):
    agent = registry.make_agent(name)
    agent.check_size(10**6)
    agent.check_changing_size(10**6)


def test_more_graphs_than_can_be_drawn_jointly_are_refused_at_reset_and_later(monkeypatch):
    monkeypatch.setattr("agents.neural.agent.MOST_DRAWN_JOINTLY", 3)
    agent, shown = registry.make_agent("gnn-ts", sampling="joint"), tuple(GRAPHS.take([0, 1]))
    with pytest.raises(ValueError, match="at most 3 graphs"):
        agent.reset(None, graph_set=GRAPHS)
    agent.reset(shown)
    with pytest.raises(ValueError, match="at most 3 graphs"):
        agent.select_action(tuple(GRAPHS))
    assert agent.select_action(shown) in (0, 1)
