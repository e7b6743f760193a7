"""The kernel of the infinitely wide network, by the arc-cosine recursion."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch_geometric.data import Batch

from gntk.aggregation import AggregatedGraphs, as_aggregated

NODE_PAIRS_PER_BLOCK = 1 << 22  # about 0.3 GB of float64 temporaries


def infinite_width_kernel(batch: Batch | AggregatedGraphs, depth: int = 2, num_nodes: int | None = None) -> Tensor:
    """Compute the graph neural tangent kernel in the limit of infinite width.

        k(G, G') = (1 / (N N')) sum_{i in G, j in G'} k_MLP(h_i, h'_j)
        [Kassraie et al. 2022, Section 3; k_MLP by the recursion of Jacot et al. 2018]

    Memory is bounded by blocks of node pairs; time grows with the square of the number of nodes.

    Args:
        batch: K graphs.
        depth: L, at least 2.
        num_nodes: N, as in `GraphMLP`; not for aggregated graphs, which bring theirs.

    Returns:
        `(K, K)` float64 tensor.

    Raises:
        ValueError: if `depth` is below 2, or `num_nodes` is given for aggregated graphs.
    """
    if isinstance(batch, AggregatedGraphs) and num_nodes is not None:
        raise ValueError("Expected no `num_nodes` for aggregated graphs, which bring theirs. Got both.")
    if depth < 2:
        raise ValueError(f"Expected `depth` to be at least 2. Got {depth}.")
    graphs = as_aggregated(batch, num_nodes).to(torch.float64)
    kernel = graphs.nodes.new_zeros(len(graphs), len(graphs))
    bounds = graphs.offsets.tolist()
    rows_per_block = max(1, NODE_PAIRS_PER_BLOCK // bounds[-1])
    for k in range(len(graphs)):  # the lower triangle, one graph's rows against all graphs up to it
        columns = slice(0, bounds[k + 1])
        for rows in graphs.nodes[bounds[k] : bounds[k + 1]].split(rows_per_block):
            pairs = node_kernel(rows, graphs.nodes[columns], depth).sum(0)
            kernel[k].index_add_(0, graphs.graph_index[columns], pairs)
    kernel = kernel.tril() + kernel.tril(-1).T
    return kernel / torch.outer(graphs.divisors, graphs.divisors)


def node_kernel(left: Tensor, right: Tensor, depth: int) -> Tensor:
    """Compute the neural tangent kernel of the infinitely wide MLP between nodes.

        Sigma^(1) = Theta^(1) = <h, h'>,   cos a = Sigma^(l) / sqrt(q^(l) q'^(l)),   q^(l) = |h|^2 / 2^(l-1)
        Sigma^(l+1) = sqrt(q q') (sin a + (pi - a) cos a) / (2 pi)      [Cho & Saul 2009, J_1]
        Theta^(l+1) = Sigma^(l+1) + Theta^(l) (pi - a) / (2 pi)         [Jacot et al. 2018, Theorem 1]

    Args:
        left: `(n, d)` float64.
        right: `(n', d)` float64.
        depth: L.

    Returns:
        `(n, n')` float64. 0 where either node is 0.
    """
    sigma = left @ right.T
    theta = sigma
    scale = torch.outer(left.norm(dim=1), right.norm(dim=1))  # sqrt(q q')
    for _ in range(depth - 1):
        cosine = (sigma / scale.where(scale > 0, 1.0)).clamp(-1, 1)
        angle = torch.arccos(cosine)
        sigma = scale * ((1 - cosine**2).sqrt() + (math.pi - angle) * cosine) / (2 * math.pi)
        theta = sigma + theta * (math.pi - angle) / (2 * math.pi)
        scale = scale / 2
    return theta
