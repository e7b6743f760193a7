"""Agents refuse more graphs than memory or time allow, before they compute anything."""

import pytest
from support.graphs import ragged_graphs

import registry
from graph_bandit_env import GraphSet
from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid
from graph_bandit_lab.design.plan import plan

GRAPHS = GraphSet.from_pyg(ragged_graphs())


@pytest.mark.parametrize("name", ["gntk-ts", "wl-ts"])
def test_an_exact_process_says_what_so_many_graphs_would_take(name):
    agent = registry.make_agent(name)
    agent.check_size(5000)
    with pytest.raises(ValueError, match=r"at most 5,000 graphs. Got 15,625: .* takes 13\.7 GB.* Use `gntk-ucb`"):
        agent.check_size(15625)
    registry.make_agent(name, most_graphs=15625).check_size(15625)


@pytest.mark.parametrize("name", ["gntk-ucb", "gntk-ei", "gntk-greedy", "gntk-pe", "wl-ucb"])
def test_without_joint_draws_columns_of_the_kernel_are_enough_where_the_graphs_stay(name):
    agent = registry.make_agent(name)
    agent.check_size(10**6)
    with pytest.raises(ValueError, match="at most 5,000 graphs. Got 15,625"):
        agent.check_changing_size(15625)
    registry.make_agent("gntk-ts", sampling="independent").check_size(10**6)


def test_a_kernel_that_is_only_known_as_a_whole_is_refused_where_it_is_too_large():
    with pytest.raises(ValueError, match="at most 3 graphs. Got 4"):
        registry.make_agent("gntk-ucb", kernel="empirical", most_graphs=3).check_size(4)


def test_joint_draws_of_a_network_are_refused_where_each_round_would_decompose_their_covariance():
    joint = registry.make_agent("gnn-ts", sampling="joint")
    joint.check_size(5000)
    with pytest.raises(ValueError, match=r'5,000 graphs with `sampling="joint"`. Got 5,001: .* of 0\.2 GB'):
        joint.check_size(5001)
    registry.make_agent("gnn-ts", sampling="joint", covariance="diagonal").check_size(50000)
    registry.make_agent("gnn-ts").check_size(50000)


def test_reset_refuses_too_many_graphs():
    agent = registry.make_agent("gntk-ts", most_graphs=3)
    with pytest.raises(ValueError, match="at most 3 graphs. Got 4"):
        agent.reset(None, graph_set=GRAPHS)


def test_a_plan_refuses_them_before_anything_is_played():
    for agent, changes in (("gntk-ts", {}), ("gntk-ucb", {"resample_graphs": "round"})):
        spec = AgentSpec.parse(f"{agent}:most_graphs=8")
        grid = Grid((EnvironmentSettings(num_graphs=(3, 9), **changes),), (spec,))
        with pytest.raises(ValueError, match=rf"at most 8 graphs. Got 9: .*\(Agent `{agent}:most_graphs=8`.\)"):
            plan([grid], (1,))


def test_other_graphs_than_those_of_reset_may_not_be_too_many_either():
    agent = registry.make_agent("gntk-ucb", most_graphs=3)
    few = tuple(GRAPHS.take([0, 1]))
    agent.reset(few)
    with pytest.raises(ValueError, match="at most 3 graphs. Got 4"):
        agent.select_action(tuple(GRAPHS))
    assert agent.select_action(few) in (0, 1)


def test_graphs_of_which_only_columns_are_held_may_not_change():
    agent = registry.make_agent("gntk-ucb", most_graphs=3)
    agent.reset(tuple(GRAPHS))
    with pytest.raises(ValueError, match="since they are more than `most_graphs`, 3"):
        agent.select_action(tuple(GRAPHS.take([0, 1])))
    assert agent.select_action(tuple(GRAPHS)) in range(4)
