import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

from agents.process.parts.structure import measure_edges


def weighted(graph):
    """A networkx graph with weights, in both directions."""
    links = [(a, b) for a, b in graph.edges] + [(b, a) for a, b in graph.edges]
    weights = [graph.edges[a, b]["weight"] for a, b in graph.edges] * 2
    return Data(
        x=torch.ones(len(graph), 1),
        edge_index=torch.tensor(links).T.reshape(2, -1),
        edge_attr=torch.tensor(weights, dtype=torch.float32).reshape(-1, 1),
    )


def random_graph(seed):
    random, graph = np.random.default_rng(seed), nx.gnp_random_graph(9, 0.5, seed=seed)
    nx.set_edge_attributes(graph, {edge: float(np.float32(random.normal())) for edge in graph.edges}, "weight")
    return graph


@pytest.mark.parametrize("seed", range(4))
def test_numbers_are_those_of_networkx(seed):
    graph = random_graph(seed)
    numbers = measure_edges(Batch.from_data_list([weighted(graph)]))[0]
    weights = [data["weight"] for *_, data in graph.edges(data=True)]
    laplacian = nx.laplacian_matrix(graph).toarray()
    strengths = [d for _, d in graph.degree(weight="weight")]
    trees = [
        nx.minimum_spanning_tree(graph).size(weight="weight") / len(graph),
        nx.maximum_spanning_tree(graph).size(weight="weight") / len(graph),
    ]
    spectrum = np.linalg.eigvalsh(laplacian)
    own = [np.mean(weights), np.std(weights), 2 * np.sum(weights) / len(graph)]
    np.testing.assert_allclose(numbers[:3], own, rtol=1e-6)
    np.testing.assert_allclose(numbers[[3, 7]], [min(weights), max(weights)], rtol=1e-6)
    np.testing.assert_allclose(numbers[8:11], [np.std(strengths), min(strengths), max(strengths)], rtol=1e-5)
    np.testing.assert_allclose(numbers[11:13], trees, rtol=1e-5)
    np.testing.assert_allclose(numbers[[13, 16]], [spectrum[1], spectrum[-1]], rtol=1e-5, atol=1e-6)


def test_a_graph_without_edges_has_no_numbers():
    bare = Data(x=torch.ones(3, 1), edge_index=torch.zeros(2, 0, dtype=torch.int64), edge_attr=torch.zeros(0, 1))
    numbers = measure_edges(Batch.from_data_list([weighted(random_graph(0)), bare]))
    assert np.isfinite(numbers[0]).all()
    assert np.isnan(numbers[1]).all()
