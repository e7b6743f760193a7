import networkx as nx
import numpy as np
import torch
from torch_geometric.data import Batch, Data

from agents.process.parts.nodes import LAYERS, measure_layers


def directed(links, count, features=None):
    x = torch.eye(count) if features is None else torch.tensor(features, dtype=torch.float32)
    return Data(x=x, edge_index=torch.tensor(links, dtype=torch.int64).reshape(-1, 2).T)


def test_sums_of_features_by_distance_from_the_sources_are_those_of_networkx():
    graph = nx.gn_graph(12, seed=3).reverse()
    numbers = measure_layers(Batch.from_data_list([directed(list(graph.edges), 12)]))[0]
    sources = [node for node, degree in graph.in_degree if degree == 0]
    distance = nx.multi_source_dijkstra_path_length(graph, sources)
    expected = np.zeros((LAYERS, 12))
    for node, steps in distance.items():
        expected[min(steps, LAYERS - 1), node] += 1
    np.testing.assert_array_equal(numbers[: LAYERS * 12].reshape(LAYERS, 12), expected)
    shape = numbers[LAYERS * 12 :]
    np.testing.assert_array_equal(shape[:LAYERS], expected.sum(1))
    sinks = [node for node, degree in graph.out_degree if degree == 0]
    assert shape[LAYERS : LAYERS + 4].tolist() == [len(sources), len(sinks), 0, 12]
    np.testing.assert_allclose(shape[LAYERS + 4], np.mean(list(distance.values())))
    assert shape[-2:].tolist() == [min(distance[k] for k in sinks), max(distance[k] for k in sinks)]


def test_nodes_on_a_cycle_belong_to_no_layer():
    cycle, path = directed([(0, 1), (1, 2), (2, 0)], 3), directed([(0, 1)], 3)
    numbers = measure_layers(Batch.from_data_list([cycle, path]))
    assert not numbers[0, : LAYERS * 3].any()
    assert numbers[0, LAYERS * 3 + LAYERS : LAYERS * 3 + LAYERS + 4].tolist() == [0, 0, 3, 1]
