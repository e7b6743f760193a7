"""Graph sets: validated arrays, random graphs, readers of other libraries' graphs, and degrees as node features."""

from graph_bandit_env.graphs.degree_features import degree_features
from graph_bandit_env.graphs.graph_set import GraphSet, as_graph_set
from graph_bandit_env.graphs.random_graphs import (
    GRAPH_MODELS,
    GraphModelName,
    RandomGraphs,
    Size,
    largest_size,
    smallest_size,
)
from graph_bandit_env.graphs.readers import Edges, NotReadWarning

__all__ = [
    "GRAPH_MODELS",
    "Edges",
    "GraphModelName",
    "GraphSet",
    "NotReadWarning",
    "RandomGraphs",
    "Size",
    "as_graph_set",
    "degree_features",
    "largest_size",
    "smallest_size",
]
