"""Directed sets keep the directions of edges; elsewhere a missing one is refused, or added if one says so."""

import pickle

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

from graph_bandit_env import GraphSet, from_networkx, from_pyg_dataset
from graph_bandit_env.files import digest
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


def test_without_directions_a_set_is_that_which_adds_those_that_are_missing(arrows):
    undirected = GraphSet(NODES, LINKS, FEATURES, directed=False)
    for dropped in (arrows.without_directions(), as_graph_set(arrows, directed=False)):
        assert not dropped.directed
        assert digest(dropped) == digest(undirected)
    assert undirected.without_directions() is undirected
    assert arrows.directed


def test_pyg_graphs_are_read_as_one_says():
    graph = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[1], [0]]), edge_attr=torch.tensor([3.0]), y=0.5)
    for read in (from_pyg_dataset, as_graph_set):
        with pytest.raises(ValueError, match="Graph 0: .*directed"):
            read([graph])
        assert read([graph], directed=True)[0].edge_links.tolist() == [[1, 0]]
        both = read([graph], directed=False)[0]
        assert (both.edge_links.tolist(), both.edges.tolist()) == ([[0, 1], [1, 0]], [[3.0], [3.0]])


def networkx_graphs(*kinds):
    for kind in kinds:
        graph = kind([(0, 1), (1, 2)])
        nx.set_node_attributes(graph, 1.0, "x")
        yield graph


@pytest.mark.filterwarnings("ignore::graph_bandit_env.graphs.NotReadWarning")
@pytest.mark.parametrize("read", [from_networkx, as_graph_set])
def test_networkx_graphs_say_themselves_whether_they_are_directed_and_those_of_both_kinds_need_a_word(read):
    assert read(list(networkx_graphs(nx.DiGraph, nx.MultiDiGraph)))[1].edge_links.tolist() == [[0, 1], [1, 2]]
    mixed = list(networkx_graphs(nx.Graph, nx.DiGraph))
    with pytest.raises(ValueError, match=r"directed=True.*directed=False"):
        read(mixed)
    for directed, sizes in ((True, [4, 2]), (False, [4, 4])):
        graphs = read(mixed, directed=directed)
        assert [len(graph.edge_links) for graph in graphs] == sizes
        assert graphs.take([1]).directed == pickle.loads(pickle.dumps(graphs)).directed == directed
