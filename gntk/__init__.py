"""The maths of graph neural tangent kernels: aggregation, network, tangent features, kernels, dimensions.

torch and PyTorch Geometric only: nothing here knows of bandits or of Gymnasium.
"""

from gntk.aggregation import AggregatedGraphs, aggregate_neighbours, keep_nodes, select_graphs
from gntk.descent import Batches, descend
from gntk.dimension import effective_dimension, information_gain, rkhs_norm
from gntk.empirical import empirical_kernel, gram, tangent_features, values_and_features, weighted_gradient
from gntk.engines.batched import batched_values_and_features
from gntk.engines.compilation import compile_loop
from gntk.engines.fused import (
    PaddedGraphs,
    fused_descend,
    fused_values_and_features,
    fused_values_and_squares,
    pad_graphs,
)
from gntk.infinite_width import infinite_width_kernel
from gntk.layers import linear_tangent_features
from gntk.network import GraphMLP, layer_inputs, predict
from gntk.regret import elliptical_potential, regret_bound
from gntk.roots import symmetric_root
from gntk.threads import one_thread

__all__ = [
    "AggregatedGraphs",
    "Batches",
    "GraphMLP",
    "PaddedGraphs",
    "aggregate_neighbours",
    "batched_values_and_features",
    "compile_loop",
    "descend",
    "effective_dimension",
    "elliptical_potential",
    "empirical_kernel",
    "fused_descend",
    "fused_values_and_features",
    "fused_values_and_squares",
    "gram",
    "infinite_width_kernel",
    "information_gain",
    "keep_nodes",
    "layer_inputs",
    "linear_tangent_features",
    "one_thread",
    "pad_graphs",
    "predict",
    "regret_bound",
    "rkhs_norm",
    "select_graphs",
    "symmetric_root",
    "tangent_features",
    "values_and_features",
    "weighted_gradient",
]
