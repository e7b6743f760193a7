import numpy as np
from gymnasium.spaces import GraphInstance

from graph_bandit_env import GraphSet
from graph_bandit_env.bandit.spaces import graph_set_space

NODES, LINKS = np.zeros((3, 2), np.float32), [[0, 1]]


def test_graphs_with_edge_features_are_members_of_a_space_with_edge_features():
    graphs = tuple(GraphSet([NODES], [LINKS], [[[5.0, -5.0]]], directed=False))
    assert graphs in graph_set_space(1, 2, edge_feature_dim=2)
    assert graphs not in graph_set_space(1, 2)


def test_a_graph_with_other_features_or_with_edges_out_of_range_is_no_member():
    edges = np.ones((1, 1), np.float32)
    assert (GraphInstance(NODES, edges, np.array([[0, 3]])),) not in graph_set_space(1, 2)
    assert (GraphInstance(NODES, edges, np.array([[0, 1]])),) not in graph_set_space(1, 3)
