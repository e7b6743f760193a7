"""Agents that play on graphs that change from round to round."""

import dataclasses

import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs

import registry
from agents.contract.inputs import derive_streams, read_graphs
from gntk import GraphMLP, aggregate_neighbours, infinite_width_kernel, tangent_features
from graph_bandit_env.graphs import as_graph_set
from graph_bandit_lab.design import AgentSpec

SMALL = {"gnn": {"width": 16, "steps": 5}, "nn": {"width": 16, "steps": 5}, "epsilon": {"width": 16, "steps": 5}}
BELIEVERS = ("gnn-ts", "nn-ucb", "neural-ucb", "gntk-ucb", "gp-ucb", "lin-ts:forget=4", "wl-ei")


def graphs_of_round(t, count=4):
    """Graphs of 1 to 8 nodes; rounds 0 and 5 show the same."""
    sizes = np.random.default_rng(t % 5).integers(1, 9, count)
    return tuple(as_graph_set(ragged_graphs(sizes.tolist(), seed=t % 5)))


def reward(observation, action):
    return float(observation[action].nodes.mean())


def make(label, **settings):
    spec = AgentSpec.parse(label)
    return registry.make_agent(spec.name, **{**SMALL.get(spec.name.split("-")[0], {}), **spec.settings, **settings})


def play(agent, rounds):
    actions = []
    for t in rounds:
        observation = graphs_of_round(t)
        actions.append(agent.select_action(observation))
        agent.update(observation, actions[-1], reward(observation, actions[-1]))
    return actions


def started(name, seed=0, **settings):
    agent = make(name, **settings)
    agent.reset(graphs_of_round(0), seed=seed)
    return agent


@pytest.mark.parametrize("name", [*BELIEVERS[:6], "random"])
def test_a_run_resumed_on_other_graphs_goes_on_as_if_it_had_not_stopped(name):
    agent, whole = started(name), started(name)
    expected = play(whole, range(8))
    assert play(agent, range(6)) == expected[:6]  # equal seeds give equal actions
    resumed = started(name, seed=1)
    resumed.load_state_dict(agent.state_dict())
    assert play(resumed, range(6, 8)) == expected[6:]
    agent.load_state_dict(started(name).state_dict())  # back to the graphs of `reset`
    assert play(agent, range(8)) == expected


def encoded(graphs):
    """The graphs as an agent encodes them that was reset on those of round 0: N is that of the largest of these."""
    alone = aggregate_neighbours(read_graphs(graphs), own_count=True, keep_isolated=True)
    largest = max(len(graph.nodes) for graph in graphs_of_round(0))
    return dataclasses.replace(alone, divisors=torch.full_like(alone.divisors, largest))


def test_the_belief_of_a_kernel_agent_is_the_posterior_given_all_rewards():
    """The textbook posterior over t observations, with the kernel of all graphs at once."""
    agent = started("gntk-ucb", output_scale=2.0, noise_variance=0.3, standardize=False)
    played, rewards = (), []
    for t in range(9):
        observation = graphs_of_round(t)
        agent.select_action(observation)
        covariance, n = 2 * infinite_width_kernel(encoded((*played, *observation))), len(played)
        gain = torch.linalg.solve(covariance[:n, :n] + 0.3 * torch.eye(n), covariance[:n, n:]).T
        variance = covariance[n:, n:].diagonal() - (gain * covariance[n:, :n]).sum(1)
        np.testing.assert_allclose(agent.predict().mean, gain @ torch.tensor(rewards, dtype=torch.float64), atol=1e-9)
        np.testing.assert_allclose(agent.predict().std, variance.sqrt(), atol=1e-7)
        played += (observation[t % 4],)
        rewards.append(reward(observation, t % 4))
        agent.update(observation, t % 4, rewards[-1])


@pytest.mark.parametrize("history", ["refreshed", "frozen"])
def test_the_variance_of_a_neural_agent_is_that_of_all_features_played(history):
    """sigma^2 = psi^T (ridge I + sum_i psi_i psi_i^T)^{-1} psi, by the inverse itself."""
    agent = started("gnn-ucb", gradients_at="initial", history=history, own_variance=0.0)
    model = GraphMLP(4, 16, seed=derive_streams(0)[0])
    inverse = agent.settings.ridge * torch.eye(4 * 16 + 16, dtype=torch.float64)
    for t in range(9):
        observation = graphs_of_round(t)
        agent.select_action(observation)
        features = tangent_features(model, encoded(observation)).double()
        expected = (features @ torch.linalg.inv(inverse) * features).sum(1)
        np.testing.assert_allclose(agent.insight().variance, expected, rtol=1e-4)
        agent.update(observation, t % 4, reward(observation, t % 4))
        inverse += torch.outer(features[t % 4], features[t % 4])


@pytest.mark.parametrize("name", ["gntk-ucb", "gnn-ucb"])
def test_at_most_so_many_graphs_are_remembered_as_the_memory_holds(name):
    agent = started(name, memory=10)
    for t in range(20):
        observation = tuple(as_graph_set(ragged_graphs((3, 4, 5), seed=100 + t)))
        agent.update(observation, agent.select_action(observation), 1.0)
        assert len(agent.history.seen) <= 11
        assert len(agent.history.counts) <= 10 + 3
