"""Draw a frame of an episode, and one graph: nodes and edges, or a structural formula."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.pools.molecule_set import MoleculeSet

if TYPE_CHECKING:
    from graph_bandit_env.bandit.episode import Episode

SIZE, DPI = (9.6, 5.4), 100  # 960 x 540 pixels, even numbers for video encoders
STYLE: dict[Any, Any] = {
    "font.size": 8.5,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 9.5,
}
COLORS = {"last played": "#D55E00", "on offer": "#56B4E9", "not on offer": "#C8C8C8"}  # Okabe and Ito (2008), grey
PANELS: Any = [["graph", "means"], ["graph", "plays"], ["graph", "regret"]]
PLACES = {"left": 0.02, "right": 0.97, "top": 0.85, "bottom": 0.09, "hspace": 0.75, "wspace": 0.2}


def draw(episode: Episode, mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Draw an episode up to its latest round, independent of matplotlib's global state and the user's style.

    Args:
        episode: the episode.
        mask: mask of the graphs on offer in the next round, `(K,)` or longer, all 0 at the end of an episode.

    Returns:
        `(540, 960, 3)`.
    """
    with style.context(["default", STYLE]):
        figure = Figure(figsize=SIZE, dpi=DPI)
        canvas: Any = FigureCanvasAgg(figure)
        panels = figure.subplot_mosaic(PANELS, gridspec_kw=PLACES)
        _draw_played(panels["graph"], episode)
        kinds = np.where(mask[: len(episode.counts)], "on offer", "not on offer").astype(object)
        if episode.played is not None:
            kinds[episode.played] = "last played"
        order = np.argsort(-episode.mean_rewards, kind="stable")
        for name, heights in (("means", episode.mean_rewards), ("plays", episode.counts)):
            axes, colors = panels[name], [COLORS[kind] for kind in kinds[order]]
            axes.vlines(range(len(order)), 0, heights[order], colors, linewidth=max(200 / len(order), 1))  # in points
            axes.axhline(0, color="#444444", linewidth=0.8)
            axes.set_xlim(-0.6, len(order) - 0.4)
        panels["means"].set_title("mean reward, the best graph first", y=1.08)
        panels["plays"].set_title("times played")
        marks = [Line2D([], [], color=color, linewidth=6, label=label) for label, color in COLORS.items()]
        figure.legend(handles=marks, loc="upper right", ncols=len(marks), frameon=False, handlelength=0.9)
        axes, regret = panels["regret"], episode.cumulative_regret
        axes.plot(regret, color="#0072B2", linewidth=1.8, marker="o", markersize=5, markevery=[-1], clip_on=False)
        axes.set(
            title=f"cumulative regret: {regret[-1]:.4g}", xlabel="round", xlim=(0, episode.horizon), ylim=(0, None)
        )
        for name, axes in panels.items():
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.yaxis.set_major_locator(MaxNLocator(3, integer=name == "plays"))
            axes.yaxis.set_major_formatter("{x:.4g}")
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _draw_played(axes: Axes, episode: Episode) -> None:
    words, k = [f"Round {len(episode.cumulative_regret) - 1:,} of {episode.horizon:,}"], episode.played
    axes.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
    axes.set_axis_off()
    if k is not None:
        caption = draw_graph(axes, episode.graph_set, k)
        axes.text(-1, -1.1, caption[:60])
        name = episode.graph_set.ids[k] if isinstance(episode.graph_set, GraphPool) else ""
        words.append(" ".join(f"Graph {k} {name}".split())[:40])
        words.append(f"Reward {episode.reward:.4g}")
        words.append(f"Mean {episode.mean_rewards[k]:.4g}, best mean {episode.mean_rewards.max():.4g}")
    axes.set_title("\n".join(words))


PIXELS = 400
"""Width and height of the picture of a molecule."""
MAX_EDGES = 3000  # maximum number of edges to draw: more are slow and unreadable
MAX_ARROWS = 300  # maximum number of edges to draw with direction
SPRING_NODES = 1000  # maximum number of nodes of a spring layout, whose time is quadratic
HUB = 0.3  # weight of the edges that hold components together


def draw_graph(axes: Axes, graph_set: GraphSet, index: int) -> str:
    """Draw a graph on axes with range [-1, 1] x [-1, 1]: with RDKit for molecules, otherwise as nodes and edges.

    Args:
        axes: the axes.
        graph_set: K graphs.
        index: index of the graph to draw.

    Returns:
        A line of text about the graph.
    """
    if isinstance(graph_set, MoleculeSet):
        with suppress(ImportError, ValueError):  # draw nodes and edges if this fails
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
    return f"{len(graph):,} nodes, {len(graph.edges):,} edges, darker for higher degree"


def _draw_molecule(axes: Axes, smiles: str) -> str:
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.Draw import MolToImage

    image = MolToImage(MolFromSmiles(smiles), size=(PIXELS, PIXELS))  # type: ignore[no-untyped-call]
    axes.imshow(np.asarray(image), extent=(-1, 1, -1, 1), aspect="auto")
    return smiles


def lay_out(graph: nx.Graph) -> NDArray[np.float64]:
    """Return a deterministic layout of nodes 0 to n - 1 in [-0.92, 0.92]^2, `(n, 2)`."""
    if len(graph) > SPRING_NODES:
        placed = nx.circular_layout(graph)
    else:  # an invisible hub joined to every node holds the components together
        held = nx.Graph(graph.edges)
        held.add_edges_from(((len(graph), node) for node in graph), weight=HUB)
        placed = nx.spring_layout(held, seed=0, iterations=int(np.clip(5000 / len(graph), 8, 100)))
    return np.asarray(nx.rescale_layout(np.array([placed[node] for node in graph]), scale=0.92))
