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


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr("agents.process.families.MOST_OF_FINITE_WIDTH", 3)
    return "gntk-ts:kernel=empirical"


def test_reset_refuses_too_many_graphs(few):
    agent = registry.make_agent("gntk-ts", kernel="empirical")
    with pytest.raises(ValueError, match="at most 3 graphs. Got 4"):
        agent.reset(None, graph_set=GRAPHS)


def test_other_graphs_than_those_of_reset_may_not_be_too_many_either(few):
    agent = registry.make_agent("gntk-ucb", kernel="empirical")
    shown = tuple(GRAPHS.take([0, 1]))
    agent.reset(shown)
    with pytest.raises(ValueError, match="at most 3 graphs. Got 4"):
        agent.select_action(tuple(GRAPHS))
    assert agent.select_action(shown) in (0, 1)
