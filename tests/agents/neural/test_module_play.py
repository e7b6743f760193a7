"""Agents that play on a user's module."""

import pytest
import torch
from support.modules import GRAPHS, Molecules, gcn, gin, molecules

import registry
from graph_bandit_env import GraphSet


def test_the_users_module_stays_as_it_is():
    torch.manual_seed(0)
    module = gin()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    agent = registry.make_agent("gnn-ts", network=module, steps=3)
    agent.reset(None, graph_set=GraphSet.from_pyg(GRAPHS))
    agent.update(None, [0, 1], [1.0, 2.0])
    assert module.training
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert all(parameter.grad is None for parameter in module.parameters())


def test_a_function_draws_other_weights_for_another_seed_and_the_same_for_the_same():
    def start(seed):
        agent = registry.make_agent("gnn-ts", network=gcn)
        agent.reset(None, seed=seed, graph_set=GraphSet.from_pyg(GRAPHS))
        return agent.weights[-2]

    assert torch.equal(start(1), start(1))
    assert not torch.equal(start(1), start(2))


def test_observations_bring_their_edge_features():
    agent = registry.make_agent("gnn-ucb", network=Molecules())
    graph_set = GraphSet.from_pyg(molecules())
    agent.reset(tuple(graph_set))
    other = registry.make_agent("gnn-ucb", network=Molecules())
    other.reset(None, graph_set=graph_set)
    torch.testing.assert_close(*(one.network._outputs(agent.weights) for one in (agent, other)))


def test_settings_and_states_know_the_module_by_its_class_and_name():
    agent = registry.make_agent("gnn-ts", network=gin(), network_name="three layers")
    assert agent.settings.network == "Pooled/three layers"
    other = registry.make_agent("gnn-ts", network=gin())
    for one in (agent, other):
        one.reset(None, graph_set=GraphSet.from_pyg(GRAPHS))
    with pytest.raises(ValueError, match="another `network`"):
        agent.load_state_dict(other.state_dict())
