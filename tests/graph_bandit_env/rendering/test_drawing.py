"""One graph, drawn into axes."""

import numpy as np
from matplotlib.figure import Figure
from support.rendered import SMILES

from graph_bandit_env import GraphSet, from_smiles
from graph_bandit_env.rendering import draw_graph

LINKS = [[(0, 1), (1, 2), (2, 0)], [(0, 1)]]
TRIANGLE = GraphSet([np.ones((3, 1))] * 2, LINKS, directed=False)


def test_nodes_and_edges_are_drawn_and_counted():
    axes = Figure().subplots()
    assert draw_graph(axes, TRIANGLE, 0) == "3 nodes, 3 edges; colour: degree 2"
    edges, nodes = axes.collections
    assert (len(edges.get_segments()), len(nodes.get_offsets())) == (3, 3)


def test_directed_edges_are_arrows_with_their_heads_beyond_the_middle():
    axes = Figure().subplots()
    nodes, links = [np.ones((3, 1))], [[(0, 1), (1, 0), (1, 2), (2, 2)]]
    caption = draw_graph(axes, GraphSet(nodes, links, directed=True), 0)
    assert caption == "3 nodes, 4 directed edges, including 1 loop; colour: degree 2 to 3"
    edges, heads, _ = axes.collections
    ways = np.stack([heads.U, heads.V], axis=1)
    lines = np.array(edges.get_segments())
    assert len(lines) == 3
    np.testing.assert_allclose(ways, 0.65 * (lines[:, 1] - lines[:, 0]))
    np.testing.assert_allclose(heads.XY, lines[:, 0])


def test_directed_graphs_without_edges_are_drawn():
    axes = Figure().subplots()
    assert draw_graph(axes, GraphSet([np.ones((1, 1))], [[]], directed=True), 0).startswith("1 node, 0 directed edges")


def test_a_molecule_is_a_picture():
    axes = Figure().subplots()
    assert draw_graph(axes, from_smiles(SMILES), 1) == SMILES[1]
    assert len(axes.images) == 1
