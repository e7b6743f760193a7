"""Graphs that an agent was not given are rated as if it had been given them."""

import pickle

import networkx as nx
import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from support.molecules import some_molecules
from torch_geometric.data import Data

import registry
from agents.contract import BlindAgentWarning, SourceResults
from agents.process import GraphRater
from graph_bandit_env import GraphSet

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
    return GraphSet.from_networkx(graphs, edge_attribute="w" if weighted else None)


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


@pytest.mark.parametrize("name", ["gp-greedy", "gntk-greedy", "wl-ucb", "lin-ucb"])
@pytest.mark.filterwarnings("ignore:.*look equal to it")
def test_ratings_do_not_depend_on_the_graphs_that_are_rated_together(name, monkeypatch):
    weighted = name.startswith("gp-")
    rater = taught(some_graphs(False, weighted).take(range(KNOWN)), name).rater()
    others = [*some_graphs(False, weighted, 12, seed=1).to_pyg(), Data(**large_graph())]
    whole = rater(others)
    alone = [rater([graph]) for graph in others]
    np.testing.assert_allclose([one.mean[0] for one in alone], whole.mean, atol=1e-12)
    np.testing.assert_allclose([one.std[0] for one in alone], whole.std, atol=1e-9)
    monkeypatch.setattr("agents.process.rater.AT_A_TIME", 5)
    np.testing.assert_allclose(rater(others).mean, whole.mean, atol=1e-12)
    assert len(rater([]).mean) == 0


def large_graph(count=50):
    """A graph that changes each scale, if scales are taken from it."""
    links = torch.stack([torch.arange(count - 1), torch.arange(1, count)])
    both = torch.cat([links, links.flip(0)], dim=1)
    return {"x": torch.full((count, 2), 100.0), "edge_index": both, "edge_attr": torch.full((both.shape[1], 1), 9.0)}


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


def test_the_kernel_is_that_of_the_agent():
    graphs = some_graphs(True, False)
    agent, every = taught(graphs), torch.arange(40)
    found = agent.rater().kernel(graphs.to_pyg()[:30], graphs.to_pyg()[10:])
    expected = agent.described.mixture(agent.learnt.weights).columns(every[:30], every[10:])
    np.testing.assert_allclose(found, expected, atol=1e-12)


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


def test_equal_graphs_are_one_graph_and_others_are_told_apart():
    """Here graphs have nothing in common but being the same, so that no rating says anything of another graph."""
    graphs = GraphSet.from_pyg(ragged_graphs((4, 6, 5)))
    alone = {f"{name}_weight": 0.0 for name in ("network", "means", "subtrees", "nodes", "sums", "structure", "edges")}
    agent = registry.make_agent("gp-greedy", **alone, layers_weight=0.0, noise_variance=1e-6)
    agent.reset(None, graph_set=graphs)
    agent.update(None, [0, 1], [1.0, 3.0])
    new = GraphSet.from_pyg(ragged_graphs((5,), seed=9)).to_pyg()
    new[0].x = new[0].x.double()  # graphs are known again whatever the type of their numbers
    joint = agent.rater().joint([*graphs.to_pyg(), *new, *GraphSet.from_pyg(new).to_pyg()])
    np.testing.assert_allclose(joint.mean, [-1, 1, 0, 0, 0], atol=1e-3)
    prior = joint.covariance[2, 2].item()
    expected = np.diag([0.0, 0, prior, prior, prior])
    expected[3, 4] = expected[4, 3] = prior
    np.testing.assert_allclose(joint.covariance, expected, atol=1e-3 * prior)


def test_before_any_result_ratings_are_those_of_the_agent():
    graphs = some_graphs(False, False)
    agent = registry.make_agent("gp-greedy")
    agent.reset(None, graph_set=graphs)
    np.testing.assert_allclose(agent.rater()(graphs.to_pyg()).std, agent.predict().std, rtol=1e-9)


def test_where_graphs_have_changed_all_results_count():
    graphs = some_graphs(False, True)
    first, second = (tuple(graphs.take(part)) for part in (range(20), range(15, 40)))
    agent = registry.make_agent("gp-ucb")
    agent.reset(first, seed=0)
    agent.update(first, np.arange(12), values_of(first)[:12])
    agent.update(second, np.arange(4), values_of(second)[:4])
    agent.look_at(second)
    prediction = agent.rater()(graphs.to_pyg()[15:]).prediction
    np.testing.assert_allclose(prediction.mean, agent.predict().mean, rtol=1e-9)


def test_refuses_graphs_of_another_kind():
    rater = taught(some_graphs(False, True)).rater()
    with pytest.raises(ValueError, match=r"Expected graphs with `x` of 2 columns, as at `reset`. Got \(5, 4\)"):
        rater(ragged_graphs((5,)))
    with pytest.raises(ValueError, match="Expected graphs without directions, .* Graph 1 has edges in one direction"):
        rater([some_graphs(False, True, 1).to_pyg()[0], some_graphs(True, True, 1).to_pyg()[0]])


def test_agents_that_do_not_read_directions_rate_graphs_without_them():
    graphs = some_graphs(True, False)
    with pytest.warns(BlindAgentWarning):
        agent = taught(graphs, "wl-ucb")
    np.testing.assert_allclose(agent.rater()(graphs.to_pyg()).prediction.mean, agent.predict().mean, rtol=1e-9)
    turned = [Data(x=graph.x, edge_index=graph.edge_index.flip(0)) for graph in graphs.to_pyg()[KNOWN:]]
    np.testing.assert_allclose(agent.rater()(turned).prediction.mean, agent.predict().mean[KNOWN:], rtol=1e-9)


def test_only_agents_that_read_graphs_have_one():
    agent = registry.make_agent("gp-greedy")
    with pytest.raises(RuntimeError, match="Expected `reset` first"):
        agent.rater()
    molecules = some_molecules(8)
    agent.reset(None, graph_set=molecules)
    with pytest.raises(ValueError, match="Got others. The `molecule-` agents make raters of molecules"):
        agent.rater()
    agent.learn_sources([SourceResults("related", molecules.smiles[:3], np.arange(3.0))])
    with pytest.raises(ValueError, match="Got sources"):
        agent.rater()
