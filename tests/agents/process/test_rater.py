"""Graphs that an agent was not given are rated as if it had been given them."""

import pickle

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import registry
from agents.contract import BlindAgentWarning
from agents.process import GraphRater
from graph_bandit_env import from_networkx

KNOWN = 25


def some_graphs(directed, weighted, count=40, seed=0):
    """Small graphs with labels of nodes and, if they are weighted, a number on each edge."""
    random, graphs = np.random.default_rng(seed), []
    for _ in range(count):
        graph = nx.gnp_random_graph(random.integers(3, 9), 0.4, seed=int(random.integers(1 << 30)), directed=directed)
        graph.add_edge(0, 1)
        for node in graph:
            graph.nodes[node]["x"] = random.integers(0, 3, 2).astype(float)
        for edge in graph.edges:
            graph.edges[edge]["w"] = float(random.random())
        graphs.append(graph)
    return from_networkx(graphs, edge_attribute="w" if weighted else False)


def values_of(graphs):
    return np.array([len(graph.edge_links) + graph.nodes.sum() for graph in graphs])


def taught(graphs, name="gp-greedy", **settings):
    agent = registry.make_agent(name, **settings)
    agent.reset(None, graph_set=graphs)
    agent.update(None, np.arange(KNOWN), values_of(graphs)[:KNOWN])
    return agent


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("weighted", [False, True], ids=["bare", "weighted"])
@pytest.mark.parametrize("warp", ["none", "normal_scores"])
def test_rates_as_the_agent_that_was_given_all(directed, weighted, warp):
    graphs = some_graphs(directed, weighted)
    agent = taught(graphs, warp=warp)
    rater, expected = pickle.loads(pickle.dumps(agent.rater())), agent.predict()
    assert isinstance(rater, GraphRater)
    assert len(rater.digests) == KNOWN
    prediction = rater(graphs.to_pyg()).prediction
    np.testing.assert_allclose(prediction.mean, expected.mean, rtol=1e-9)
    np.testing.assert_allclose(prediction.std, expected.std, rtol=1e-7, atol=1e-9)
    assert prediction.noise_std == expected.noise_std
    np.testing.assert_allclose(prediction.interval(), expected.interval(), rtol=1e-7, atol=1e-9)


def test_joint_ratings_have_the_covariance_of_the_agent_and_draws_have_both_moments():
    graphs = some_graphs(False, True)
    agent = taught(graphs)
    index, joint = torch.arange(22, 32), agent.rater().joint(graphs.to_pyg()[22:32])
    unit = agent.targets.unit
    expected = agent.posterior.covariance(index) * unit**2
    np.testing.assert_allclose(joint.covariance_of_rewards(), expected, atol=1e-9)
    draws = joint.draw_rewards(4000, torch.Generator().manual_seed(0))
    scale = joint.covariance_of_rewards().trace() ** 0.5
    np.testing.assert_allclose(draws.mean(0), agent.predict().mean[22:32], atol=0.05 * scale)
    np.testing.assert_allclose(np.cov(draws.T), joint.covariance_of_rewards(), atol=0.05 * scale**2)


def test_numbers_are_those_that_the_parts_measure():
    graphs = some_graphs(True, True)
    agent = taught(graphs)
    measured = agent.rater().measure(graphs.to_pyg()[30:], bits=50)
    numbers = {reading.name: reading.values for reading in agent.described.readings if hasattr(reading, "values")}
    assert set(measured) == {*numbers, "subtrees"} >= {"structure", "edge features", "directions"}
    for name, values in numbers.items():
        np.testing.assert_allclose(measured[name], values[30:], atol=1e-12)
    sizes = graphs.num_nodes[30:]
    np.testing.assert_array_equal(measured["subtrees"].sum(axis=1), 3 * sizes)  # labels of depth 0, 1 and 2
    assert measured["subtrees"].shape == (10, 50)


def test_agents_that_do_not_read_directions_rate_graphs_without_them():
    graphs = some_graphs(True, False)
    with pytest.warns(BlindAgentWarning):
        agent = taught(graphs, "wl-ucb")
    np.testing.assert_allclose(agent.rater()(graphs.to_pyg()).prediction.mean, agent.predict().mean, rtol=1e-9)
    turned = [Data(x=graph.x, edge_index=graph.edge_index.flip(0)) for graph in graphs.to_pyg()[KNOWN:]]
    np.testing.assert_allclose(agent.rater()(turned).prediction.mean, agent.predict().mean[KNOWN:], rtol=1e-9)
