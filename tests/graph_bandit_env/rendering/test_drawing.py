"""One graph, drawn into axes."""

import numpy as np
from matplotlib.figure import Figure
from support.rendered import SMILES

from graph_bandit_env import GraphSet, from_smiles
from graph_bandit_env.rendering import draw_graph

TRIANGLE = GraphSet([np.ones((3, 1))] * 2, [[(0, 1), (1, 2), (2, 0)], [(0, 1)]])


def test_nodes_and_edges_are_drawn_and_counted():
    axes = Figure().subplots()
    assert draw_graph(axes, TRIANGLE, 0) == "3 nodes, 3 edges; colour: degree 2"
    edges, nodes = axes.collections
    assert (len(edges.get_segments()), len(nodes.get_offsets())) == (3, 3)


def test_a_molecule_is_a_picture():
    axes = Figure().subplots()
    assert draw_graph(axes, from_smiles(SMILES), 1) == SMILES[1]
    assert len(axes.images) == 1
