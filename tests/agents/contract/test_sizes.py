"""Agents refuse more graphs than memory or time allow, before they compute anything."""

import pytest
from support.graphs import ragged_graphs

import registry
from graph_bandit_env import GraphSet
from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid, Sweep

GRAPHS = GraphSet.from_pyg(ragged_graphs())


@pytest.mark.parametrize("name", ["gntk-ts", "gntk-ucb", "wl-ts", "gp-ts", "lin-ucb"])
def test_an_exact_process_takes_any_number_of_graphs_by_columns_and_short_lists(name):
    agent = registry.make_agent(name)
    agent.check_size(10**6)
    agent.check_changing_size(10**6)


def test_a_kernel_that_is_computed_as_a_whole_is_refused_where_it_is_too_large():
    agent = registry.make_agent("gntk-ucb", kernel="empirical")
    agent.check_size(5000)
    with pytest.raises(ValueError, match=r"at most 5,000 graphs. Got 5,001: .* 0\.2 GB"):
        agent.check_size(5001)


def test_joint_draws_of_a_network_are_refused_where_each_round_would_decompose_their_covariance():
    joint = registry.make_agent("gnn-ts", sampling="joint")
    joint.check_size(5000)
    with pytest.raises(ValueError, match=r'5,000 graphs with `sampling="joint"`. Got 5,001: .* of 0\.2 GB'):
        joint.check_size(5001)
    registry.make_agent("gnn-ts", sampling="joint", covariance="diagonal").check_size(50000)
    registry.make_agent("gnn-ts").check_size(50000)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr("agents.kernel.agent.MOST_OF_FINITE_WIDTH", 3)
    return "gntk-ts:kernel=empirical"


def test_reset_refuses_too_many_graphs(few):
    agent = registry.make_agent("gntk-ts", kernel="empirical")
    with pytest.raises(ValueError, match="at most 3 graphs. Got 4"):
        agent.reset(None, graph_set=GRAPHS)


def test_a_plan_refuses_them_before_anything_is_played(few):
    for changes in ({}, {"resample_graphs": "round"}):
        grid = Grid((EnvironmentSettings(num_graphs=(3, 9), **changes),), (AgentSpec.parse(few),))
        with pytest.raises(ValueError, match=rf"`{few}` cannot: .*at most 3 graphs. Got 9"):
            Sweep(title="", grids=(grid,), seeds=(1,)).plan()


def test_other_graphs_than_those_of_reset_may_not_be_too_many_either(few):
    agent = registry.make_agent("gntk-ucb", kernel="empirical")
    shown = tuple(GRAPHS.take([0, 1]))
    agent.reset(shown)
    with pytest.raises(ValueError, match="at most 3 graphs. Got 4"):
        agent.select_action(tuple(GRAPHS))
    assert agent.select_action(shown) in (0, 1)


def test_a_setting_that_says_how_many_graphs_a_kernel_may_have_is_no_longer_one():
    with pytest.raises(ValueError, match="`most_graphs` is no longer a setting. Of many graphs, only the columns"):
        registry.make_agent("gntk-ucb", most_graphs=100)
