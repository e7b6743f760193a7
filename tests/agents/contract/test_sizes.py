"""Agents refuse more graphs than memory or time allow, before they compute anything."""

import pytest
from support.graphs import ragged_graphs

import registry
from graph_bandit_env import GraphSet
from graph_bandit_lab import AgentSpec, EnvironmentSettings, Grid
from graph_bandit_lab.design.plan import plan

GRAPHS = GraphSet.from_pyg(ragged_graphs())


@pytest.mark.parametrize("name", ["gntk-ucb", "wl-ts"])
def test_an_exact_process_says_what_so_many_graphs_would_take(name):
    agent = registry.make_agent(name)
    agent.check_size(5000)
    with pytest.raises(ValueError, match=r"at most 5,000 graphs. Got 15,625: .* takes 9\.8 GB.* Use `gnn-ucb`"):
        agent.check_size(15625)
    registry.make_agent(name, most_graphs=15625).check_size(15625)


def test_joint_draws_of_a_network_are_refused_where_each_round_would_decompose_their_covariance():
    joint = registry.make_agent("gnn-ts", sampling="joint")
    joint.check_size(5000)
    with pytest.raises(ValueError, match=r'5,000 graphs with `sampling="joint"`. Got 5,001: .* of 0\.2 GB'):
        joint.check_size(5001)
    registry.make_agent("gnn-ts", sampling="joint", covariance="diagonal").check_size(50000)
    registry.make_agent("gnn-ts").check_size(50000)


def test_reset_refuses_too_many_graphs():
    agent = registry.make_agent("gntk-ucb", most_graphs=3)
    with pytest.raises(ValueError, match="at most 3 graphs. Got 4"):
        agent.reset(None, graph_set=GRAPHS)


def test_a_plan_refuses_them_before_anything_is_played():
    grid = Grid((EnvironmentSettings(num_graphs=(3, 9)),), (AgentSpec.parse("gntk-ucb:most_graphs=8"),))
    with pytest.raises(ValueError, match=r"at most 8 graphs. Got 9: .*\(Agent `gntk-ucb:most_graphs=8`.\)"):
        plan([grid], (1,))


def test_other_graphs_than_those_of_reset_may_not_be_too_many_either():
    agent = registry.make_agent("gntk-ucb", most_graphs=3)
    few = tuple(GRAPHS.take([0, 1]))
    agent.reset(few)
    with pytest.raises(ValueError, match="at most 3 graphs. Got 4"):
        agent.select_action(tuple(GRAPHS))
    assert agent.select_action(few) in (0, 1)


def test_the_limit_is_not_part_of_what_results_are_known_by():
    keys = [
        plan([Grid((EnvironmentSettings(num_graphs=3),), (AgentSpec.parse(text),))], (1,))[0].key
        for text in ("gntk-ucb", "gntk-ucb:most_graphs=8")
    ]
    assert keys[0] == keys[1]
