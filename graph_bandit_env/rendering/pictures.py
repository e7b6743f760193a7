"""The picture of one graph: nodes and edges, or a molecule as chemists draw it."""

from __future__ import annotations

import io
from typing import Any, Protocol

import networkx as nx
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.image import imread
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


class Picture(Protocol):
    """The layout of a graph, computed once and drawn many times."""

    caption: str
    """A line of text about the graph."""

    def draw(self, axes: Axes) -> list[Artist]:
        """Draw into axes that show [-1, 1] x [-1, 1], and return the artists added."""


def make_picture(graph_set: GraphSet, index: int) -> Picture:
    """Make the picture of a graph: with RDKit for a molecule, if it is installed, else with networkx."""
    missing = ""
    if isinstance(graph_set, MoleculeSet):
        try:
            return MoleculePicture(graph_set.smiles[index])
        except (ImportError, ValueError) as error:  # a picture of atoms and bonds is better than none
            missing = f". {error}"
    links = np.asarray(graph_set[index].edge_links)
    picture = NodeLinkPicture(int(graph_set.num_nodes[index]), links, graph_set.directed)
    picture.caption += missing
    return picture


class MoleculePicture:
    """A molecule, drawn by RDKit as on the page of suggestions.

    Raises:
        ImportError: if RDKit is not installed.
        ValueError: if RDKit cannot read the SMILES.
    """

    def __init__(self, smiles: str) -> None:
        from rdkit import Chem
        from rdkit.Chem.Draw import rdMolDraw2D

        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None:
            raise ValueError(f"Expected a SMILES that RDKit can read. Got `{smiles}`.")
        painter: Any = rdMolDraw2D.MolDraw2DCairo(PIXELS, PIXELS)
        rdMolDraw2D.PrepareAndDrawMolecule(painter, molecule)
        painter.FinishDrawing()
        painted = imread(io.BytesIO(painter.GetDrawingText()), format="png")
        self.pixels = (255 * painted).round().astype(np.uint8)
        self.caption = smiles

    def draw(self, axes: Axes) -> list[Artist]:
        """Draw the molecule."""
        return [axes.imshow(self.pixels, extent=(-1, 1, -1, 1), aspect="auto")]


class NodeLinkPicture:
    """Nodes and edges; a node with more edges is darker, and edges are thinner if there are many.

    Args:
        num_nodes: n.
        edge_links: `(E, 2)`, both directions of an undirected edge.
        directed: whether edges are drawn as arrows.
    """

    def __init__(self, num_nodes: int, edge_links: NDArray[np.int64], directed: bool = False) -> None:
        self.directed = directed
        links = edge_links if directed else edge_links[edge_links[:, 0] <= edge_links[:, 1]]
        loops = links[:, 0] == links[:, 1]
        ends = edge_links if directed else edge_links[:, 0]
        self.degrees = np.bincount(ends.ravel(), minlength=num_nodes)
        step = -(-len(links) // MAX_EDGES) or 1
        shown = links[~loops][::step]
        self.positions = lay_out(num_nodes, shown)
        self.segments = self.positions[shown]
        self.caption = f"{_count(num_nodes, 'node')}, {_count(len(links), 'directed edge' if directed else 'edge')}"
        if step > 1:
            self.caption += f" ({len(self.segments):,} drawn)"
        if loops.any():
            self.caption += f", including {_count(int(loops.sum()), 'loop')}"
        low, high = self.degrees.min(), self.degrees.max()
        self.caption += f"; colour: degree {low}" + f" to {high}" * bool(high > low)

    def draw(self, axes: Axes) -> list[Artist]:
        """Draw the edges, and the nodes on top."""
        thin = np.sqrt(max(len(self.segments), 1))
        grey = (0.2, 0.2, 0.2, float(np.clip(8 / thin, 0.1, 0.8)))
        linewidth = float(np.clip(12 / thin, 0.3, 1.6))
        edges = LineCollection(list(self.segments), linewidths=linewidth, colors=[grey], zorder=1)
        axes.add_collection(edges, autolim=False)
        heads = self._draw_heads(axes, grey) if self.directed else []
        low, high = int(self.degrees.min()), int(self.degrees.max())
        nodes = axes.scatter(
            self.positions[:, 0],
            self.positions[:, 1],
            c=self.degrees,
            s=float(np.clip(4000 / len(self.degrees), 9, 250)),
            cmap="Blues",
            vmin=low - 0.4 * (high - low) - 1,  # the palest blue would not show on white
            vmax=high,
            edgecolors="white",
            linewidths=0.6,
            zorder=2,
        )
        return [edges, *heads, nodes]

    def _draw_heads(self, axes: Axes, color: tuple[float, float, float, float]) -> list[Artist]:
        """Draw the head of each arrow beyond its middle: there no node hides it, nor the head of the way back."""
        if not len(self.segments):
            return []
        starts, ends = self.segments[:, 0], self.segments[:, 1]
        ways = HEAD * (ends - starts)
        return [
            axes.quiver(
                *starts.T,
                *ways.T,
                angles="xy",
                scale_units="xy",
                scale=1,
                units="width",
                width=0.002,
                headwidth=8,
                headlength=9,
                headaxislength=8,
                color=color,
                zorder=1,
            )
        ]


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
        iterations = int(np.clip(5000 / num_nodes, 8, 50))
        placed = nx.spring_layout(graph, pos=_spectral_start(num_nodes, links), seed=0, iterations=iterations)
    positions = np.array([placed[node] for node in range(num_nodes)])
    low, high = positions.min(axis=0), positions.max(axis=0)
    return np.asarray(0.92 * (2 * positions - low - high) / max(float((high - low).max()), 1e-9))


def _spectral_start(num_nodes: int, links: NDArray[np.int64]) -> dict[int, NDArray[np.float64]] | None:
    """Place nodes by two eigenvectors of the Laplacian; they unfold graphs that springs alone would leave folded."""
    if not 2 < num_nodes <= SPECTRAL_NODES:
        return None
    laplacian = np.zeros((num_nodes, num_nodes))
    laplacian[links[:, 0], links[:, 1]] = laplacian[links[:, 1], links[:, 0]] = -1
    np.fill_diagonal(laplacian, -laplacian.sum(axis=0))
    start = np.linalg.eigh(laplacian)[1][:, 1:3] * np.sqrt(num_nodes)
    start += np.random.default_rng(0).normal(0, 0.05, start.shape)  # springs do not separate coinciding nodes
    return dict(enumerate(start)) | {num_nodes: np.zeros(2)}


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
