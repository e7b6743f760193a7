from typing import get_args

import numpy as np
import pytest

from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.random_graphs import GraphModelName, RandomGraphs, independent_edges


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
