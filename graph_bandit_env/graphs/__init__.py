"""Graph sets: validated arrays, random graphs, and readers of other libraries' graphs."""

from graph_bandit_env.graphs.graph_set import GraphSet, as_graph_set
from graph_bandit_env.graphs.random_graphs import GRAPH_MODELS, GraphModelName, RandomGraphs, smallest_size

__all__ = ["GRAPH_MODELS", "GraphModelName", "GraphSet", "RandomGraphs", "as_graph_set", "smallest_size"]
