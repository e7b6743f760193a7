"""Describe a graph by a few numbers: means of its nodes, and its sizes."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Batch

from gntk import aggregate_neighbours


def describe(batch: Batch) -> Tensor:
    """Return the features of graphs: the mean of the aggregated nodes, the mean of the nodes, and the sizes.

        phi(G) = ((1/n) sum_i h_i, (1/n) sum_i X_i, log n, log(1 + e))

    Here h_i is the aggregated node of `gntk.aggregate_neighbours`, n the number of nodes, and e that of edges, where an
    undirected edge counts twice, once in each direction.

    Args:
        batch: K graphs.

    Returns:
        `(K, 2 d + 2)` float64.

    Raises:
        ValueError: as `gntk.aggregate_neighbours`.
    """
    graphs = aggregate_neighbours(batch, own_count=True)
    edges = torch.bincount(batch.batch[batch.edge_index[0]], minlength=batch.num_graphs)
    means = [
        graphs.sum_over_nodes(nodes.double()) / graphs.sizes.double().unsqueeze(1) for nodes in (graphs.nodes, batch.x)
    ]
    return torch.cat([*means, graphs.sizes.double().log().unsqueeze(1), edges.double().log1p().unsqueeze(1)], dim=1)
