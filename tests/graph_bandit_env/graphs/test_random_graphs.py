from typing import get_args

import networkx as nx
import numpy as np
import pytest

from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.random_graphs import (
    GraphModelName,
    RandomGraphs,
    independent_edges,
    mixed_graphs,
    weighted_lattices,
)


@pytest.mark.parametrize("model", get_args(GraphModelName))
def test_graphs_are_as_a_checked_graph_set_would_have_them(model):
    drawn = RandomGraphs(graph_model=model, num_graphs=3, num_nodes=12, feature_dim=4).draw(np.random.default_rng(0))
    checked = GraphSet(*([getattr(g, name) for g in drawn] for name in ("nodes", "edge_links", "edges")))
    for ours, theirs in zip(drawn, checked, strict=True):
        assert (ours.edge_links[:, 0] != ours.edge_links[:, 1]).all()
        assert np.array_equal(ours.edges, theirs.edges)
        assert np.array_equal(ours.edge_links, theirs.edge_links)
        assert np.array_equal(ours.nodes, theirs.nodes)
        assert ours.nodes.dtype == theirs.nodes.dtype == np.float32


def test_erdos_renyi_joins_pairs_with_the_given_probability():
    degrees = independent_edges(np.random.default_rng(0), [60] * 20, 1, 0.3).average_degrees
    assert degrees.mean() == pytest.approx(0.3 * 59, rel=0.02)


def test_random_dot_product_joins_pairs_by_the_sigmoid_of_their_product():
    joined, expected = [], []
    for graph in independent_edges(np.random.default_rng(0), [40] * 50, 2, None):
        adjacency = np.zeros((40, 40))
        adjacency[tuple(graph.edge_links.T)] = 1
        upper = np.triu_indices(40, 1)
        joined.append(adjacency[upper])
        expected.append(1 / (1 + np.exp(-(graph.nodes @ graph.nodes.T)[upper])))
    joined, expected = np.concatenate(joined), np.concatenate(expected)
    for low in np.arange(0, 1, 0.2):
        inside = (expected >= low) & (expected < low + 0.2)
        assert joined[inside].mean() == pytest.approx(expected[inside].mean(), abs=0.02)


def read(graph):
    made = nx.Graph()
    made.add_nodes_from(range(len(graph.nodes)))
    made.add_weighted_edges_from((u, v, float(w)) for (u, v), (w,) in zip(graph.edge_links, graph.edges, strict=True))
    return made


@pytest.mark.parametrize("draw", [mixed_graphs, weighted_lattices])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 12])
def test_graphs_of_any_size_are_connected_and_their_nodes_alike(draw, size):
    graphs = draw(np.random.default_rng(size), [size] * 10, 2)
    for graph in graphs:
        assert np.array_equal(graph.nodes, np.ones((size, 2)))
        assert nx.is_connected(read(graph))


def test_mixed_graphs_have_a_mean_degree_of_about_four_and_are_not_all_of_one_kind():
    graphs = mixed_graphs(np.random.default_rng(0), [12] * 400, 1)
    assert graphs.average_degrees.mean() == pytest.approx(4, abs=0.4)
    largest = np.array([np.bincount(graph.edge_links[:, 0]).max() for graph in graphs])
    assert 0.15 < (graphs.average_degrees == 4).mean() < 0.35  # small worlds have just as many edges
    assert (largest <= 6).any()
    assert (largest > 12 / 4).any()  # a hub of preferential attachment


def test_lattices_are_one_ring_with_equal_sums_of_weights_which_spread_differently():
    graphs = weighted_lattices(np.random.default_rng(0), [12] * 50, 1)
    expected = nx.circulant_graph(12, [1, 2])
    for graph in graphs:
        assert nx.utils.graphs_equal(nx.Graph(read(graph).edges), nx.Graph(expected.edges))
        assert graph.edges.mean() == pytest.approx(1, rel=1e-5)
        assert (graph.edges >= 0).all()
    spread = [graph.edges.std() for graph in graphs]
    assert min(spread) < 0.6 < 1.2 < max(spread)
