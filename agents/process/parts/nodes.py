"""Measure the features of nodes: their means and sums, and those of their neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gntk import aggregate_neighbours

if TYPE_CHECKING:
    from torch_geometric.data import Batch


def measure_means(batch: Batch, directed: bool) -> NDArray[np.float64]:
    """Return means over the nodes of a graph: of their features, and of the directions of their neighbours' sums.

        ((1/n) sum_i X_i, (1/n) sum_i h_i),   h_i as in `gntk.aggregate_neighbours`

    Args:
        batch: K graphs with d features a node.
        directed: whether edges have directions; else each is there in both.

    Returns:
        `(K, 2 d)`; `(K, 3 d)` if edges have directions: h_i by the edges that lead to a node, and by those that leave.
    """
    sizes = batch.ptr.diff().double().unsqueeze(1)
    aggregated = [aggregate_neighbours(one_way).nodes.double() for one_way in _both_ways(batch, directed)]
    return torch.cat([_sum(batch, nodes) / sizes for nodes in (batch.x.double(), *aggregated)], dim=1).numpy()


def measure_sums(batch: Batch, directed: bool) -> NDArray[np.float64]:
    """Return sums over the nodes of a graph: of their features, and of these times the number of neighbours.

        (sum_i X_i, sum_i deg(i) X_i)

    The sums over all neighbours of all nodes are the second ones.

    Args:
        batch: K graphs with d features a node.
        directed: whether edges have directions; else each is there in both.

    Returns:
        `(K, 2 d)`; `(K, 3 d)` if edges have directions: by the numbers of edges that leave a node and that lead to it.
    """
    features, ways = batch.x.double(), _both_ways(batch, directed)
    degrees = [one_way.edge_index[0].bincount(minlength=len(features)) for one_way in ways]
    weighted = [features * degree.unsqueeze(1) for degree in degrees]
    return torch.cat([_sum(batch, nodes) for nodes in (features, *weighted)], dim=1).numpy()


def _both_ways(batch: Batch, directed: bool) -> list[Batch]:
    """Return the graphs; if edges have directions, also with all edges turned round."""
    if not directed:
        return [batch]
    turned = batch.clone()
    turned.edge_index = batch.edge_index.flip(0)
    return [batch, turned]


def _sum(batch: Batch, nodes: Tensor) -> Tensor:
    """Sum values of nodes `(M, d)` over those of each graph, `(K, d)`."""
    return torch.zeros(batch.num_graphs, nodes.shape[1], dtype=torch.float64).index_add_(0, batch.batch, nodes)
