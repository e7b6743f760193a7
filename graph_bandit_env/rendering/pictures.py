"""The picture of one graph: nodes and edges, or a molecule as chemists draw it."""

from __future__ import annotations

from contextlib import suppress

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.pools.molecule_set import MoleculeSet

PIXELS = 400
"""Width and height of the picture of a molecule."""
MAX_EDGES = 3000  # edges drawn; more would take long and look like a black disc
MAX_ARROWS = 300  # edges drawn with their direction
SPRING_NODES = 1000  # most nodes of a spring layout; its time grows with their square
HUB = 0.3  # weight of the edges that hold components together


def draw_graph(axes: Axes, graph_set: GraphSet, index: int) -> str:
    """Draw a graph into axes that show [-1, 1] x [-1, 1]: with RDKit if it is a molecule, else as nodes and edges.

    Args:
        axes: the axes.
        graph_set: K graphs.
        index: which of them to draw.

    Returns:
        A line of text about the graph.
    """
    if isinstance(graph_set, MoleculeSet):
        with suppress(ImportError, ValueError):  # a picture of atoms and bonds is better than none
            return _draw_molecule(axes, graph_set.smiles[index])
    graph: nx.Graph = nx.DiGraph() if graph_set.directed else nx.Graph()
    graph.add_nodes_from(range(int(graph_set.num_nodes[index])))
    graph.add_edges_from(np.asarray(graph_set[index].edge_links).tolist())
    positions = dict(enumerate(lay_out(graph)))
    shown = list(graph.edges)[:: -(-len(graph.edges) // MAX_EDGES) or 1]
    size = float(np.clip(4000 / len(graph), 9, 250))
    thin = np.sqrt(max(len(shown), 1))
    nx.draw_networkx_edges(
        graph,
        positions,
        edgelist=shown,
        ax=axes,
        arrows=graph_set.directed and len(shown) <= MAX_ARROWS,
        width=np.clip(12 / thin, 0.3, 1.6),
        edge_color="#333333",
        alpha=np.clip(8 / thin, 0.1, 0.8),
        node_size=size,
    )
    degrees = [degree for _, degree in graph.degree]
    dots = {"node_color": degrees, "cmap": "Blues", "vmin": -max(degrees) / 2 - 1, "vmax": max(degrees)}
    nx.draw_networkx_nodes(graph, positions, ax=axes, node_size=size, edgecolors="white", linewidths=0.6, **dots)
    return f"{len(graph):,} nodes, {len(graph.edges):,} edges; darker: higher degree"


def _draw_molecule(axes: Axes, smiles: str) -> str:
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.Draw import MolToImage

    image = MolToImage(MolFromSmiles(smiles), size=(PIXELS, PIXELS))  # type: ignore[no-untyped-call]
    axes.imshow(np.asarray(image), extent=(-1, 1, -1, 1), aspect="auto")
    return smiles


def lay_out(graph: nx.Graph) -> NDArray[np.float64]:
    """Place the nodes 0 to n - 1 in [-0.92, 0.92]^2, `(n, 2)`; the same graph always gets the same layout."""
    if len(graph) > SPRING_NODES:
        placed = nx.circular_layout(graph)
    else:  # a hub joined to every node holds the components together; it is not drawn
        held = nx.Graph(graph.edges)
        held.add_edges_from(((len(graph), node) for node in graph), weight=HUB)
        placed = nx.spring_layout(held, seed=0, iterations=int(np.clip(5000 / len(graph), 8, 100)))
    return np.asarray(nx.rescale_layout(np.array([placed[node] for node in graph]), scale=0.92))
