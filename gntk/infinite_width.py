"""Compute the kernel of the infinitely wide network by the arc-cosine recursion."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor
from torch_geometric.data import Batch

from gntk.aggregation import AggregatedGraphs, as_aggregated

NODE_PAIRS_PER_BLOCK = 1 << 18  # temporaries of 2 MB each stay in cache


def infinite_width_kernel(batch: Batch | AggregatedGraphs, depth: int = 2, num_nodes: int | None = None) -> Tensor:
    """Compute the graph neural tangent kernel in the limit of infinite width.

        k(G, G') = (1 / (N N')) sum_{i in G, j in G'} k_MLP(h_i, h'_j)
        [Kassraie et al. 2022, Section 3; k_MLP by the recursion of Jacot et al. 2018]

    Node pairs are taken in blocks, which bounds memory; time grows with the square of the number of nodes.

    Args:
        batch: K graphs.
        depth: L, at least 2.
        num_nodes: N, as in `GraphMLP`. Not accepted for aggregated graphs, which carry their own.

    Returns:
        `(K, K)` float64. Kernel of the graphs.

    Raises:
        ValueError: if `depth` is below 2, or `num_nodes` is given for aggregated graphs.
    """
    if isinstance(batch, AggregatedGraphs) and num_nodes is not None:
        raise ValueError("Expected no `num_nodes` for aggregated graphs, which carry their own. Got both.")
    if depth < 2:
        raise ValueError(f"Expected `depth` to be at least 2. Got {depth}.")
    graphs = as_aggregated(batch, num_nodes).to(torch.float64)
    lengths = graphs.nodes.norm(dim=1)
    units = graphs.nodes / lengths.where(lengths > 0, 1.0).unsqueeze(1)
    kernel = graphs.nodes.new_zeros(len(graphs), len(graphs))
    bounds = graphs.offsets.tolist()
    for k, (start, stop) in enumerate(itertools.pairwise(bounds)):  # graph k against graphs 0 to k
        for columns in torch.arange(stop).split(max(1, NODE_PAIRS_PER_BLOCK // (stop - start))):
            block = slice(int(columns[0]), int(columns[-1]) + 1)
            pairs = unit_node_kernel(units[start:stop] @ units[block].T, depth)
            kernel[k].index_add_(0, graphs.graph_index[block], lengths[start:stop] @ pairs * lengths[block])
    kernel = kernel.tril() + kernel.tril(-1).T
    return kernel / torch.outer(graphs.divisors, graphs.divisors)


def unit_node_kernel(cosine: Tensor, depth: int) -> Tensor:
    """Compute the neural tangent kernel of the infinitely wide MLP between nodes of unit length.

        c^(1) = tau^(1) = <h, h'>,   cos a = c^(l)
        c^(l+1) = (sin a + (pi - a) cos a) / pi                          [Cho & Saul 2009, J_1 at unit length]
        tau^(l+1) = c^(l+1) / 2^l + tau^(l) (pi - a) / (2 pi)            [Jacot et al. 2018, Theorem 1]

    The kernel is homogeneous in both nodes: k_MLP(h, h') = |h| |h'| tau^(L).

    Args:
        cosine: `(n, n')` float64. Cosine of the angle between each pair of nodes; overwritten.
        depth: L.

    Returns:
        `(n, n')` float64. tau^(L).
    """
    cosine = cosine.clamp_(-1, 1)
    tau = cosine
    for layer in range(1, depth):
        rest = torch.arccos(cosine).neg_().add_(math.pi)  # pi - a
        following = (1 - cosine.square()).sqrt_().addcmul_(rest, cosine).div_(math.pi)
        tau = (tau * rest).div_(2 * math.pi).add_(following, alpha=0.5**layer)
        cosine = following
    return tau
