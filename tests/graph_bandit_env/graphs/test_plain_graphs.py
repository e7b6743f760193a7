"""Random graphs without node features."""

import networkx as nx
import numpy as np
import pytest

from graph_bandit_env.graphs.random_graphs import mixed_graphs, weighted_lattices


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
