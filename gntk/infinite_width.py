"""Compute the kernel of the infinitely wide network by the arc-cosine recursion."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from gntk.aggregation import AggregatedGraphs, as_aggregated
from gntk.node_pairs import node_pair_sums

if TYPE_CHECKING:
    from torch_geometric.data import Batch

NODE_PAIRS_PER_BLOCK = 1 << 18  # of torch: temporaries of 2 MB each stay in cache


def infinite_width_kernel(
    batch: Batch | AggregatedGraphs,
    depth: int = 2,
    num_nodes: int | None = None,
    *,
    others: Batch | AggregatedGraphs | None = None,
) -> Tensor:
    """Compute the graph neural tangent kernel in the limit of infinite width.

        k(G, G') = (1 / (N N')) sum_{i in G, j in G'} k_MLP(h_i, h'_j)
        [Kassraie et al. 2022, Section 3; k_MLP by the recursion of Jacot et al. 2018]

    Memory is that of the nodes and of the kernel. Time grows with the number of node pairs. On the CPU, where compiled
    loops compute the sums, k(G, G') is exactly independent of the other graphs in either set and of the order of the
    two sets. On other devices torch computes the sums, and the last bits differ.

    Args:
        batch: K graphs.
        depth: L, at least 2.
        num_nodes: N, as in `GraphMLP`, of both sets. Not accepted for aggregated graphs, which carry their own.
        others: K' graphs to compare with, with a separate N for each set. None: `batch` itself.

    Returns:
        `(K, K')` float64. Kernel of the graphs and the others.

    Raises:
        ValueError: if `depth` is below 2, `num_nodes` is given for aggregated graphs, or nodes of the two sets differ
            in their number of features.
    """
    if num_nodes is not None and any(isinstance(graphs, AggregatedGraphs) for graphs in (batch, others)):
        raise ValueError("Expected no `num_nodes` for aggregated graphs, which carry their own. Got both.")
    if depth < 2:
        raise ValueError(f"Expected `depth` to be at least 2. Got {depth}.")
    rows = as_aggregated(batch, num_nodes).to(torch.float64)
    columns = rows if others is None else as_aggregated(others, num_nodes).to(torch.float64, rows.nodes.device)
    if columns.feature_dim != rows.feature_dim:
        raise ValueError(f"Expected `others` with {rows.feature_dim} features a node. Got {columns.feature_dim}.")
    take_sums = node_pair_sums if rows.nodes.device.type == "cpu" else node_pair_sums_in_torch
    return take_sums(rows, columns, depth) / torch.outer(rows.divisors, columns.divisors)


def node_pair_sums_in_torch(graphs: AggregatedGraphs, others: AggregatedGraphs, depth: int) -> Tensor:
    """Compute `node_pair_sums` by torch, on any device, in blocks of node pairs. Tests compare the two."""
    units, lengths = _units_and_lengths(graphs)
    columns, column_lengths = (units, lengths) if others is graphs else _units_and_lengths(others)
    sums = units.new_zeros(len(graphs), len(others))
    for k, (start, stop) in enumerate(itertools.pairwise(graphs.offsets.tolist())):
        count = stop if others is graphs else len(columns)  # graph k against graphs 0 to k, or against all others
        for index in torch.arange(count).split(max(1, NODE_PAIRS_PER_BLOCK // (stop - start))):
            block = slice(int(index[0]), int(index[-1]) + 1)
            pairs = unit_node_kernel(units[start:stop] @ columns[block].T, depth)
            sums[k].index_add_(0, others.graph_index[block], lengths[start:stop] @ pairs * column_lengths[block])
    return sums.tril() + sums.tril(-1).T if others is graphs else sums


def unit_node_kernel(cosine: Tensor, depth: int) -> Tensor:
    """Compute the neural tangent kernel of the infinitely wide MLP between nodes of unit length.

        c^(1) = tau^(1) = <h, h'>,   cos a = c^(l)
        c^(l+1) = (sin a + (pi - a) cos a) / pi                          [Cho & Saul 2009, J_1 at unit length]
        tau^(l+1) = c^(l+1) / 2^l + tau^(l) (pi - a) / (2 pi)            [Jacot et al. 2018, Theorem 1]

    The kernel is homogeneous in both nodes: k_MLP(h, h') = |h| |h'| tau^(L).

    Args:
        cosine: `(n, n')` float64. Cosine of the angle between each pair of nodes, overwritten.
        depth: L.

    Returns:
        `(n, n')` float64. tau^(L).
    """
    cosine = cosine.clamp_(-1, 1)
    tau = cosine
    for layer in range(1, depth):
        rest = torch.arccos(cosine).neg_().add_(math.pi)  # pi - a
        following = (1 - cosine).mul_(1 + cosine).sqrt_().addcmul_(rest, cosine).div_(math.pi)
        tau = (tau * rest).div_(2 * math.pi).add_(following, alpha=0.5**layer)
        cosine = following
    return tau


def _units_and_lengths(graphs: AggregatedGraphs) -> tuple[Tensor, Tensor]:
    lengths = graphs.nodes.norm(dim=1)
    return graphs.nodes / lengths.where(lengths > 0, 1.0).unsqueeze(1), lengths
