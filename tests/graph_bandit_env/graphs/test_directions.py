"""Directed sets keep the directions of edges; elsewhere a missing one is refused, or added if one says so."""

import pickle

import networkx as nx
import numpy as np
import pytest
import torch
from support.pools import assert_equal_pools
from torch_geometric.data import Batch, Data

from graph_bandit_env import GraphPool, GraphSet, from_networkx, from_pyg_dataset
from graph_bandit_env.graphs import as_graph_set

pytestmark = pytest.mark.filterwarnings("ignore:.*parallel edges")
NODES = [[[1.0], [2.0], [3.0]], [[4.0], [5.0]]]
LINKS = [[[2, 0], [0, 1], [0, 1], [1, 1]], [[1, 0]]]  # an edge twice, a loop
FEATURES = [[[5.0], [6.0], [6.0], [7.0]], [[8.0]]]


@pytest.fixture
def arrows():
    return GraphSet(NODES, LINKS, FEATURES, directed=True)


def test_directed_edges_are_kept_as_they_are_once_and_sorted(arrows):
    assert arrows.directed
    assert arrows[0].edge_links.tolist() == [[0, 1], [1, 1], [2, 0]]
    assert arrows[0].edges.tolist() == [[6.0], [7.0], [5.0]]
    assert arrows[1].edge_links.tolist() == [[1, 0]]
    assert arrows.average_degrees.tolist() == [1.0, 0.5]
    assert arrows.largest_sizes == (3, 3)
    assert repr(arrows) == "GraphSet(2 directed graphs, 2 to 3 nodes, 1 features)"


def test_a_missing_direction_is_refused_and_both_remedies_are_named():
    with pytest.raises(
        ValueError,
        match=r"Graph 1: .*\(2, 0\).*directed=True.*directed=False",
    ):
        GraphSet([NODES[1], NODES[0]], [[[0, 1], [1, 0]], [[0, 1], [1, 0], [2, 0], [1, 1]]])


def test_parts_copies_and_batches_of_a_directed_set_are_directed(arrows):
    for same in (arrows.take([0, 1]), pickle.loads(pickle.dumps(arrows)), GraphSet.from_packed(arrows._packed)):
        assert same.directed
        assert same[0].edge_links.tolist() == arrows[0].edge_links.tolist()
    first, second = arrows.to_pyg()
    assert first.edge_index.tolist() == [[0, 1, 2], [1, 1, 0]]
    assert first.edge_attr.flatten().tolist() == [6.0, 7.0, 5.0]
    batch, expected = arrows.to_batch(), Batch.from_data_list([first, second])
    assert torch.equal(batch.edge_index, expected.edge_index)
    assert torch.equal(batch.edge_attr, expected.edge_attr)
    assert torch.equal(batch.get_example(1).edge_index, second.edge_index)


def test_without_directions_a_set_is_that_which_adds_those_that_are_missing(arrows):
    undirected = GraphSet(NODES, LINKS, FEATURES, directed=False)
    for dropped in (arrows.without_directions(), as_graph_set(arrows, directed=False)):
        assert not dropped.directed
        for one, other in zip(dropped, undirected, strict=True):
            assert one.edge_links.tolist() == other.edge_links.tolist()
            assert one.edges.tolist() == other.edges.tolist()
            assert one.nodes.tolist() == other.nodes.tolist()
    assert undirected.without_directions() is undirected
    assert arrows.directed


def test_a_pool_keeps_names_and_values_without_its_directions():
    pool = GraphPool(NODES, LINKS, ids=["a", "b"], targets=[1.0, np.nan], directed=True)
    assert "2 directed graphs" in repr(pool.take([0, 1]))
    expected = GraphPool(NODES, LINKS, ids=["a", "b"], targets=[1.0, np.nan], directed=False)
    assert_equal_pools(pool.without_directions(), expected)
    assert pool.without_targets().directed


def test_pyg_graphs_are_read_as_one_says():
    graph = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[1], [0]]), edge_attr=torch.tensor([3.0]), y=0.5)
    for read in (GraphSet.from_pyg, from_pyg_dataset, as_graph_set):
        with pytest.raises(ValueError, match="Graph 0: .*directed"):
            read([graph])
        assert read([graph], directed=True)[0].edge_links.tolist() == [[1, 0]]
        both = read([graph], directed=False)[0]
        assert (both.edge_links.tolist(), both.edges.tolist()) == ([[0, 1], [1, 0]], [[3.0], [3.0]])


def networkx_graphs(*kinds):
    for kind in kinds:
        graph = kind([(0, 1), (1, 2)])
        nx.set_node_attributes(graph, 1.0, "x")
        nx.set_edge_attributes(graph, {edge: float(edge[0]) for edge in graph.edges}, "weight")
        yield graph


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("read", [GraphSet.from_networkx, from_networkx, as_graph_set])
def test_networkx_graphs_say_themselves_that_they_are_directed(read, kind):
    graphs = list(networkx_graphs(kind))
    assert read(graphs)[0].edge_links.tolist() == [[0, 1], [1, 2]]
    assert read(graphs).directed
    dropped = read(graphs, directed=False)
    assert dropped[0].edge_links.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert not dropped.directed


@pytest.mark.filterwarnings("ignore::graph_bandit_env.graphs.NotReadWarning")
@pytest.mark.parametrize("read", [GraphSet.from_networkx, from_networkx, as_graph_set])
def test_networkx_graphs_of_both_kinds_need_a_word(read):
    mixed = list(networkx_graphs(nx.Graph, nx.DiGraph))
    with pytest.raises(
        ValueError,
        match="Graph 1 is directed.*directed=True.*directed=False",
    ):
        read(mixed)
    arrows, edges = read(mixed, directed=True), read(mixed, directed=False)
    assert [len(graph.edge_links) for graph in arrows] == [4, 2]
    assert [len(graph.edge_links) for graph in edges] == [4, 4]
