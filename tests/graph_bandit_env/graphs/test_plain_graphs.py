"""Random graphs without node features."""

import networkx as nx
import numpy as np
import pytest

from graph_bandit_env.graphs.plain_graphs import mixed_graphs, weighted_lattices
from graph_bandit_env.graphs.random_graphs import RandomGraphs


def read(graph):
    made = nx.Graph()
    made.add_nodes_from(range(len(graph.nodes)))
    made.add_weighted_edges_from((u, v, float(w)) for (u, v), (w,) in zip(graph.edge_links, graph.edges, strict=True))
    return made


@pytest.mark.parametrize("draw", [mixed_graphs, weighted_lattices])
@pytest.mark.parametrize("size", range(1, 13))
def test_graphs_of_any_size_are_connected_and_their_nodes_alike(draw, size):
    graphs = draw(np.random.default_rng(size), 30, size, 2)
    for graph in graphs:
        assert np.array_equal(graph.nodes, np.ones((size, 2)))
        assert nx.is_connected(read(graph))


@pytest.mark.parametrize("model", ["mixed", "weighted"])
def test_equal_generators_draw_equal_graphs_and_others_draw_other_ones(model):
    graphs = RandomGraphs(graph_model=model, num_graphs=20, num_nodes=(5, 15), feature_dim=1)
    first, again, other = (list(graphs.draw(np.random.default_rng(seed))) for seed in (3, 3, 4))
    assert all(np.array_equal(a.edges, b.edges) for a, b in zip(first, again, strict=True))
    assert all(np.array_equal(a.edge_links, b.edge_links) for a, b in zip(first, again, strict=True))
    assert any(not np.array_equal(a.edges, b.edges) for a, b in zip(first, other, strict=True))


def test_size_and_degree_leave_most_of_how_clustered_mixed_graphs_are_untold():
    graphs = mixed_graphs(np.random.default_rng(0), 300, np.tile(np.arange(10, 40), 10), 1)
    clustered = np.array([nx.transitivity(read(graph)) for graph in graphs])
    known = np.stack([np.ones(300), graphs.num_nodes, graphs.average_degrees], axis=1)
    left = clustered - known @ np.linalg.lstsq(known, clustered, rcond=None)[0]
    assert left.var() > 0.6 * clustered.var()
    assert clustered.std() > 0.1


@pytest.mark.parametrize("size", [12, 40])
def test_mixed_graphs_have_a_mean_degree_of_about_four_and_are_not_all_of_one_kind(size):
    graphs = mixed_graphs(np.random.default_rng(0), 400, size, 1)
    assert graphs.average_degrees.mean() == pytest.approx(4, abs=0.4)
    largest = np.array([np.bincount(graph.edge_links[:, 0]).max() for graph in graphs])
    assert 0.15 < (graphs.average_degrees == 4).mean() < 0.35  # small worlds have just as many edges
    assert (largest <= 6).any()
    assert (largest > size / 4).any()  # a hub of preferential attachment


def test_lattices_are_one_ring_with_equal_sums_of_weights_which_spread_differently():
    graphs = weighted_lattices(np.random.default_rng(0), 50, 12, 1)
    expected = nx.circulant_graph(12, [1, 2])
    for graph in graphs:
        assert nx.utils.graphs_equal(nx.Graph(read(graph).edges), nx.Graph(expected.edges))
        assert graph.edges.mean() == pytest.approx(1, rel=1e-5)
        assert (graph.edges >= 0).all()
    spread = [graph.edges.std() for graph in graphs]
    assert min(spread) < 0.6 < 1.2 < max(spread)


def test_both_directions_of_an_edge_have_one_weight():
    for graph in weighted_lattices(np.random.default_rng(0), 5, 9, 1):
        weights = {tuple(pair): float(weight) for pair, (weight,) in zip(graph.edge_links, graph.edges, strict=True)}
        assert all(weight == weights[v, u] for (u, v), weight in weights.items())
