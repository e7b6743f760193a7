"""Reward functions of the structure of a graph or of its weights, by name; nothing of them is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeGuard, get_args

import numpy as np
from gymnasium.spaces import GraphInstance
from numpy.typing import NDArray

from graph_bandit_env.graphs.graph_set import GraphSet

if TYPE_CHECKING:
    import networkx as nx

StructuralRewardName = Literal["transitivity", "spanning_tree"]
STRUCTURAL_REWARDS: tuple[StructuralRewardName, ...] = get_args(StructuralRewardName)


def is_structural(model: object) -> TypeGuard[StructuralRewardName]:
    """Return whether a reward model is the name of a function of this module."""
    return isinstance(model, str) and model in STRUCTURAL_REWARDS


def check_fit(model: object, edge_feature_dim: int | None) -> None:
    """Raise a ValueError if a reward model reads weights, and edges do not have one feature each."""
    if isinstance(model, str) and model == "spanning_tree" and edge_feature_dim != 1:
        raise ValueError(
            f"Expected graphs with one edge feature, the weight, for the reward `{model}`. Got "
            f'{edge_feature_dim or "none"}. Give `graphs` with `edge_attr`, or graph_model="weighted".'
        )


def compute_rewards(name: StructuralRewardName, graph_set: GraphSet) -> NDArray[np.float64]:
    """Compute the mean reward of each graph.

        transitivity      3 (number of triangles) / (number of pairs of edges that share a node), 0 without such pairs
        spanning_tree     the sum of the weights of the edges that connect all nodes at the lowest weight

    Directions and self-loops are not read. Of the two directions of an edge, the lower weight counts. Parts that are
    not connected have a tree each.

    Args:
        name: one of `STRUCTURAL_REWARDS`.
        graph_set: K graphs.

    Returns:
        `(K,)` float64.
    """
    import networkx as nx

    if name == "transitivity":
        return np.array([nx.transitivity(_read(graph)) for graph in graph_set], np.float64)
    trees = (nx.minimum_spanning_edges(_read(graph), data=True) for graph in graph_set)
    return np.array([sum(data["weight"] for *_, data in tree) for tree in trees], np.float64)


def _read(graph: GraphInstance) -> nx.Graph:
    import networkx as nx

    read = nx.Graph()
    read.add_nodes_from(range(len(np.asarray(graph.nodes))))
    links, features = np.asarray(graph.edge_links), np.asarray(graph.edges)
    for (u, v), weight in zip(links.tolist(), features[:, 0].tolist(), strict=True):
        if u != v and not (read.has_edge(u, v) and read[u][v]["weight"] <= weight):
            read.add_edge(u, v, weight=weight)
    return read
