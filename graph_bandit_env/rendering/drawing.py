"""Draw one graph of a set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_bandit_env.graphs.graph_set import GraphSet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_graph(axes: Axes, graph_set: GraphSet, index: int) -> str:
    """Draw a graph into axes that show [-1, 1] x [-1, 1]: with RDKit if it is a molecule, else with networkx.

    Args:
        axes: the axes.
        graph_set: K graphs.
        index: which of them to draw.

    Returns:
        A line of text about the graph: how many nodes and edges it has, and what the colours mean.
    """
    from graph_bandit_env.rendering.pictures import make_picture

    picture = make_picture(graph_set, index)
    picture.draw(axes)
    return picture.caption
