"""Node features for graphs that have none."""

import networkx as nx
import numpy as np
import pytest
from torch_geometric.utils import from_networkx as to_data

from graph_bandit_env import GraphPool, from_networkx, from_smiles
from graph_bandit_env.graphs import degree_features

NETWORKS = [nx.barbell_graph(4, 2), nx.star_graph(6), nx.path_graph(1), nx.empty_graph(3)]


@pytest.mark.parametrize("most", [3, 6])
@pytest.mark.parametrize("as_given", [lambda graphs: graphs, lambda graphs: [to_data(graph) for graph in graphs[:2]]])
def test_a_node_without_features_gets_its_degree_up_to_the_most(as_given, most):
    given = as_given(NETWORKS)
    for graph, network in zip(degree_features(given, most), NETWORKS[: len(given)], strict=True):
        assert np.array_equal(graph.nodes, np.eye(most + 1)[[min(degree, most) for _, degree in network.degree]])
        assert len(graph.edge_links) == 2 * network.number_of_edges()


def test_directed_graphs_tell_edges_from_a_node_from_those_that_lead_to_it():
    arrows = degree_features([nx.DiGraph([(0, 1), (0, 2)])], most=2)
    assert arrows.directed
    assert arrows[0].nodes.tolist() == [[0, 0, 1, 1, 0, 0], [1, 0, 0, 0, 1, 0], [1, 0, 0, 0, 1, 0]]
    edges = degree_features([nx.DiGraph([(0, 1), (0, 2)])], most=2, directed=False)
    assert edges[0].nodes.tolist() == [[0, 0, 1], [0, 1, 0], [0, 1, 0]]


def test_a_pool_keeps_all_else():
    weighted = [nx.Graph(name=name) for name in "ab"]
    for graph, weight in zip(weighted, (2.5, 0.5), strict=True):
        graph.add_edge(0, 1, weight=weight)
        graph.graph["score"] = 10 * weight
    pool = degree_features(from_networkx(weighted, "score", node_attribute=None, edge_attribute="weight"), most=1)
    assert isinstance(pool, GraphPool)
    assert pool.ids == ("a", "b")
    assert pool.targets.tolist() == [25, 5]
    assert [graph.edges.tolist() for graph in pool] == [[[2.5], [2.5]], [[0.5], [0.5]]]
    assert pool[0].nodes.tolist() == [[0, 1], [0, 1]]


def test_molecules_are_refused():
    with pytest.raises(TypeError):
        degree_features(from_smiles(["CCO"]))
