import networkx as nx
import numpy as np
import pytest
import torch
from support.graphs import ragged_graphs
from torch_geometric.data import Batch, Data

from graph_bandit_env.graphs import GraphSet, NotReadWarning, as_graph_set

X = np.zeros((3, 2))


def test_pyg_graphs_come_back_as_they_were(graphs):
    back = as_graph_set(graphs).to_pyg()
    for before, after in zip(graphs, back, strict=True):
        assert torch.equal(after.x, before.x)
        assert torch.equal(after.edge_index, before.coalesce().edge_index)


def test_each_direction_of_an_edge_keeps_its_features_and_a_missing_one_gets_those_of_the_other():
    links, features = [[1, 0], [0, 1], [2, 1], [0, 1]], [[3.0], [1.0], [5.0], [1.0]]
    with pytest.warns(NotReadWarning, match="1 of 1 graphs have parallel edges"):
        graph_set = GraphSet([X], [links], [features], directed=False)
    assert graph_set[0].edge_links.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert graph_set[0].edges.tolist() == [[1.0], [3.0], [5.0], [5.0]]
    assert graph_set.edge_feature_dim == 1


def test_networkx_graphs_are_numbered_in_their_own_order():
    graph = nx.Graph([("b", "a"), ("b", "c")])
    nx.set_node_attributes(graph, {"a": [1.0], "b": [2.0], "c": [3.0]}, "x")
    (read,) = as_graph_set([graph])
    assert read.nodes.ravel().tolist() == [2.0, 1.0, 3.0]
    assert read.edge_links.tolist() == [[0, 1], [0, 2], [1, 0], [2, 0]]


def test_is_a_sequence_with_sizes_and_degrees(graphs):
    graph_set = as_graph_set(graphs)
    assert graph_set.num_nodes.tolist() == [5, 1, 7, 3]
    assert [len(graph.nodes) for graph in graph_set[1:]] == [1, 7, 3]
    assert graph_set.average_degrees[1] == 0
    assert "4 graphs, 1 to 7 nodes, 4 features" in repr(graph_set)
    assert as_graph_set(graph_set) is graph_set


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "graph"),
        (([X, X], [[]]), "edges"),
        *((([x], [[]]), "Graph 0: .*node features") for x in (X[:0], X[:, :0], X[:, 0], X + 1e300, X + 1j)),
        (([X, np.full((1, 2), np.nan)], [[], []]), "Graph 1: .*node features"),
        (([np.array([["a"]])], [[]]), "one-hot"),
        (([X, np.zeros((3, 4))], [[], []]), "node features"),
        *((([X], [[[0, node]]]), f"node {node}") for node in (3, -1)),
        *((([X], [links]), "edges") for links in ([[0.0, 1.0]], [[0, 1, 2]])),
        (([X], [[[0, 1]]], [[[1.0], [2.0]]]), "edge features"),
        (([X, X], [[[0, 1]], [[0, 1]]], [[[1.0]], [[1.0, 2.0]]], True), "edge features"),
        (([X], [[]], None, "yes"), "directed"),
    ],
)
def test_refuses_what_is_no_graph_set(arguments, message):
    with pytest.raises(ValueError, match=message):
        GraphSet(*arguments)


def test_a_single_graph_is_a_set_of_one():
    path = nx.path_graph(3)
    nx.set_node_attributes(path, [1.0], "x")
    assert len(as_graph_set(ragged_graphs()[0])) == len(as_graph_set(path)) == 1


def test_reads_features_of_every_type():
    for dtype in (torch.bfloat16, torch.float64, torch.int64, torch.bool):
        graph = Data(x=torch.ones(2, 1, dtype=dtype), edge_index=torch.tensor([[0, 1], [1, 0]]))
        assert as_graph_set([graph])[0].nodes.tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("graphs", [3, ["CCO"], [*ragged_graphs(), nx.path_graph(2)]])
def test_refuses_what_is_no_graph(graphs):
    with pytest.raises(TypeError, match="`graphs`"):
        as_graph_set(graphs)


@pytest.mark.parametrize("edge_features", [False, True])
@pytest.mark.parametrize("index", [[0, 1, 2, 3], [1], [1, 3, 1]])
def test_a_batch_of_the_set_is_that_of_its_graphs(index, edge_features):
    graphs = ragged_graphs()
    for k, graph in enumerate(graphs if edge_features else ()):
        graph.edge_attr = torch.arange(2.0 * graph.num_edges).reshape(-1, 2) + k
    graph_set = as_graph_set(graphs).take(index)
    found, expected = graph_set.to_batch(), Batch.from_data_list(graph_set.to_pyg())
    names = ("x", "edge_index", *["edge_attr"] * edge_features)
    assert_equal_graphs(found, expected, (*names, "batch", "ptr"))
    assert found.num_graphs == expected.num_graphs == len(index)
    for own, theirs in zip(found.to_data_list(), graph_set.to_pyg(), strict=True):
        assert_equal_graphs(own, theirs, names)
    assert_equal_graphs(found.get_example(len(index) - 1), graph_set.to_pyg()[-1], names)


def assert_equal_graphs(found, expected, names):
    assert set(found.keys()) == set(expected.keys()) == set(names)
    for name in names:
        assert torch.equal(getattr(found, name), getattr(expected, name)), name
