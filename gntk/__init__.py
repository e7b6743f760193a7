"""Compute graph neural tangent kernels: aggregation, network, tangent features, kernels and dimensions.

The package needs only torch and PyTorch Geometric and is independent of bandits and Gymnasium. `gntk.engines` holds the
fast ways to compute a network.
"""

from importlib.metadata import version

from gntk.aggregation import AggregatedGraphs, aggregate_neighbours, join_graphs, keep_nodes, select_graphs
from gntk.compilation import one_thread
from gntk.dimension import effective_dimension, elliptical_potential, information_gain, regret_bound, rkhs_norm
from gntk.infinite_width import infinite_width_kernel
from gntk.network import GraphMLP, empirical_kernel, gram, tangent_features, values_and_features
from gntk.roots import quick_root, symmetric_root

__all__ = [
    "AggregatedGraphs",
    "GraphMLP",
    "__version__",
    "aggregate_neighbours",
    "effective_dimension",
    "elliptical_potential",
    "empirical_kernel",
    "gram",
    "infinite_width_kernel",
    "information_gain",
    "join_graphs",
    "keep_nodes",
    "one_thread",
    "quick_root",
    "regret_bound",
    "rkhs_norm",
    "select_graphs",
    "symmetric_root",
    "tangent_features",
    "values_and_features",
]

__version__ = version("graph-bandit-env")
