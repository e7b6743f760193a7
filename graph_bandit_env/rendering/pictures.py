"""The picture of one graph: nodes and edges, or a molecule as chemists draw it."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import NDArray

from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.pools.molecule_set import MoleculeSet

PIXELS = 400
"""Width and height of a picture, and of the panel that shows it."""
MAX_EDGES = 3000  # edges drawn; more would take long and look like a black disc
SPRING_NODES = 1000  # most nodes of a spring layout; its time grows with their square
SPECTRAL_NODES = 300  # most nodes of a spectral start; its time grows with their cube
HEAD = 0.65  # where on an edge the head of its arrow is
HUB = 0.3  # weight of the edges that hold components together


def draw_graph(axes: Axes, graph_set: GraphSet, index: int) -> str:
    """Draw a graph into axes that show [-1, 1] x [-1, 1]: with RDKit if it is a molecule, else as nodes and edges.

    Args:
        axes: the axes.
        graph_set: K graphs.
        index: which of them to draw.

    Returns:
        A line of text about the graph: how many nodes and edges it has, and what the colours mean.
    """
    if isinstance(graph_set, MoleculeSet):
        try:
            return _draw_molecule(axes, graph_set.smiles[index])
        except (ImportError, ValueError):  # a picture of atoms and bonds is better than none
            pass
    links = np.asarray(graph_set[index].edge_links)
    return _draw_nodes_and_edges(axes, int(graph_set.num_nodes[index]), links, graph_set.directed)


def _draw_molecule(axes: Axes, smiles: str) -> str:
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.Draw import MolToImage

    image = MolToImage(MolFromSmiles(smiles), size=(PIXELS, PIXELS))  # type: ignore[no-untyped-call]
    axes.imshow(np.asarray(image), extent=(-1, 1, -1, 1), aspect="auto")
    return smiles


def _draw_nodes_and_edges(axes: Axes, num_nodes: int, edge_links: NDArray[np.int64], directed: bool) -> str:
    """Draw a graph; a node with more edges is darker, and edges are thinner if there are many."""
    links = edge_links if directed else edge_links[edge_links[:, 0] <= edge_links[:, 1]]
    loops = links[:, 0] == links[:, 1]
    degrees = np.bincount((edge_links if directed else edge_links[:, 0]).ravel(), minlength=num_nodes)
    step = -(-len(links) // MAX_EDGES) or 1
    shown = links[~loops][::step]
    positions = lay_out(num_nodes, shown)
    thin = np.sqrt(max(len(shown), 1))
    grey = (0.2, 0.2, 0.2, float(np.clip(8 / thin, 0.1, 0.8)))
    width = float(np.clip(12 / thin, 0.3, 1.6))
    axes.add_collection(LineCollection([*positions[shown]], linewidths=width, colors=[grey], zorder=1), autolim=False)
    if directed and len(shown):  # heads beyond the middle: there no node hides them, nor the head of the way back
        starts, ends = positions[shown[:, 0]], positions[shown[:, 1]]
        heads: dict[str, Any] = {
            "width": 0.002,
            "headwidth": 8,
            "headlength": 9,
            "headaxislength": 8,
            "color": grey,
            "zorder": 1,
        }
        axes.quiver(*starts.T, *(HEAD * (ends - starts)).T, angles="xy", scale_units="xy", scale=1, **heads)
    low, high = int(degrees.min()), int(degrees.max())
    axes.scatter(
        positions[:, 0],
        positions[:, 1],
        c=degrees,
        s=float(np.clip(4000 / num_nodes, 9, 250)),
        cmap="Blues",
        vmin=low - 0.4 * (high - low) - 1,  # the palest blue would not show on white
        vmax=high,
        edgecolors="white",
        linewidths=0.6,
        zorder=2,
    )
    caption = f"{_count(num_nodes, 'node')}, {_count(len(links), 'directed edge' if directed else 'edge')}"
    caption += f" ({len(shown):,} drawn)" * (step > 1)
    caption += f", including {_count(int(loops.sum()), 'loop')}" * bool(loops.any())
    return f"{caption}; colour: degree {low}" + f" to {high}" * (high > low)


def lay_out(num_nodes: int, links: NDArray[np.int64]) -> NDArray[np.float64]:
    """Place nodes in [-0.92, 0.92]^2; the same graph always gets the same layout.

    A hub joined to every node holds the components together; it is not drawn.

    Args:
        num_nodes: n.
        links: `(E, 2)`, each edge at least once, no loops.

    Returns:
        `(n, 2)`.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(num_nodes + 1))
    graph.add_edges_from(links.tolist())
    if num_nodes > SPRING_NODES:
        placed = nx.circular_layout(graph)
    else:
        graph.add_edges_from(((num_nodes, node) for node in range(num_nodes)), weight=HUB)
        start = None
        if 2 < num_nodes <= SPECTRAL_NODES:  # unfolds graphs that springs alone would leave folded
            jitter = np.random.default_rng(0).normal(0, 0.05, (num_nodes + 1, 2))  # parts nodes in one place
            start = {node: jitter[node] + place for node, place in nx.spectral_layout(graph).items()}
        iterations = int(np.clip(5000 / num_nodes, 8, 50))
        placed = nx.spring_layout(graph, pos=start, seed=0, iterations=iterations)
    positions = np.array([placed[node] for node in range(num_nodes)])
    low, high = positions.min(axis=0), positions.max(axis=0)
    return np.asarray(0.92 * (2 * positions - low - high) / max(float((high - low).max()), 1e-9))


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
