"""Graph sets: validated arrays, random graphs, readers for other libraries, and degrees as node features."""

from graph_bandit_env.graphs.degree_features import degree_features
from graph_bandit_env.graphs.graph_set import GraphSet, NotReadWarning
from graph_bandit_env.graphs.random_graphs import size_range
from graph_bandit_env.graphs.readers import Edges, as_graph_set, read_networkx

__all__ = ["Edges", "GraphSet", "NotReadWarning", "as_graph_set", "degree_features", "read_networkx", "size_range"]
