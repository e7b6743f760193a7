"""Degrees as node features for graphs without features."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from graph_bandit_env.checks import check_integer
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.readers import as_graph_set, list_graphs, read_networkx, read_pyg

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data


def degree_features(
    graphs: GraphSet | Iterable[Data] | Iterable[nx.Graph], most: int = 10, directed: bool | None = None
) -> GraphSet:
    """Replace node features by one-hot degrees.

        x_i = e_min(degree of i, most),   separately for outgoing and incoming edges if directed

    Args:
        graphs: a graph set or pool, or PyG `Data` or networkx graphs, with or without node features.
        most: maximum degree to distinguish. Nodes with more neighbours get the same feature.
        directed: as in `GraphSet` and `graph_bandit_env.from_networkx`.

    Returns:
        The graphs with `most + 1` features of a node, twice as many if directed, and unchanged edges. A pool keeps its
        identifiers and measured values.

    Raises:
        ValueError: if `most` is less than 1, or a graph is not valid.
        TypeError: if the graphs are molecules, whose atoms have features.
    """
    check_integer("most", most, 1)
    library, given = ("", []) if isinstance(graphs, GraphSet) else list_graphs(graphs)
    if library == "networkx":
        graph_set = read_networkx(given, node_attribute=None, directed=directed)
    elif library == "pyg":
        filled = [copy.copy(graph) for graph in given]
        for graph in filled:
            graph.x = np.ones((graph.num_nodes, 1), np.float32)
        graph_set = read_pyg(filled, directed)
    else:
        graph_set = as_graph_set(given or graphs, directed)
    ends = (0, 1) if graph_set.directed else (0,)
    one_hot = np.eye(most + 1, dtype=np.float32)
    nodes = []
    for graph, size in zip(graph_set, graph_set.num_nodes.tolist(), strict=True):
        links = np.asarray(graph.edge_links)
        degrees = [np.bincount(links[:, end], minlength=size) for end in ends]
        nodes.append(np.hstack([one_hot[degree.clip(max=most)] for degree in degrees]))
    return graph_set.with_nodes(nodes)
