"""Measure node features: means and sums, over neighbours and by distance from the sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from torch import Tensor

from agents.process.parts.structure import Floats, measure_each
from gntk import aggregate_neighbours

if TYPE_CHECKING:
    from torch_geometric.data import Batch

LAYERS = 6  # distances from the sources of 0, 1, ..., 4, and at least 5


def measure_means(batch: Batch, directed: bool) -> Floats:
    """Return means over the nodes of a graph: of their features, and of the directions of their neighbours' sums.

        ((1/n) sum_i X_i, (1/n) sum_i h_i),   h_i as in `gntk.aggregate_neighbours`

    Args:
        batch: K graphs with d features a node.
        directed: treat edges as directed. If False, each edge must exist in both directions.

    Returns:
        `(K, 2 d)`, or `(K, 3 d)` for directed edges: h_i by incoming edges, and by outgoing edges.
    """
    sizes = batch.ptr.diff().double().unsqueeze(1)
    aggregated = [aggregate_neighbours(one_way).nodes.double() for one_way in _both_ways(batch, directed)]
    return torch.cat([_sum(batch, nodes) / sizes for nodes in (batch.x.double(), *aggregated)], dim=1).numpy()


def measure_sums(batch: Batch, directed: bool) -> Floats:
    """Return sums over the nodes of a graph: of their features, and of these times the number of neighbours.

        (sum_i X_i, sum_i deg(i) X_i)

    The second sums equal those over all neighbours of all nodes.

    Args:
        batch: K graphs with d features a node.
        directed: treat edges as directed. If False, each edge must exist in both directions.

    Returns:
        `(K, 2 d)`, or `(K, 3 d)` for directed edges: by the numbers of outgoing and incoming edges.
    """
    features, ways = batch.x.double(), _both_ways(batch, directed)
    degrees = [one_way.edge_index[0].bincount(minlength=len(features)) for one_way in ways]
    weighted = [features * degree.unsqueeze(1) for degree in degrees]
    return torch.cat([_sum(batch, nodes) for nodes in (features, *weighted)], dim=1).numpy()


def _both_ways(batch: Batch, directed: bool) -> list[Batch]:
    """Return the graphs and, for directed edges, also the graphs with all edges reversed."""
    if not directed:
        return [batch]
    turned = batch.clone()
    turned.edge_index = batch.edge_index.flip(0)
    return [batch, turned]


def _sum(batch: Batch, nodes: Tensor) -> Tensor:
    """Sum values of nodes `(M, d)` over those of each graph, `(K, d)`."""
    return torch.zeros(batch.num_graphs, nodes.shape[1], dtype=torch.float64).index_add_(0, batch.batch, nodes)


def measure_layers(batch: Batch) -> Floats:
    """Return sums of node features by distance from the sources, and the shape of the directions.

    A source is a node without incoming edges. The distance of a node is the smallest number of edges from any source.
    An unreachable node, as on a cycle, belongs to no layer. The shape is the number of nodes in each layer, of sources,
    of sinks, of unreachable nodes, and of strongly connected components, the mean and the largest distance, and the
    smallest and largest distances from sources to sinks.

    Args:
        batch: K graphs with d features a node.

    Returns:
        `(K, 6 d + 14)`.
    """
    features, rows = batch.x.double().numpy(), []
    for begin, (layer, shape) in zip(batch.ptr.tolist(), measure_each(batch, _of_links), strict=False):
        sums = np.zeros((LAYERS + 1, features.shape[1]))
        np.add.at(sums, layer, features[begin : begin + len(layer)])
        rows.append(np.concatenate([sums[:LAYERS].ravel(), shape]))
    return np.stack(rows)


def _of_links(count: int, links: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Return the layer of each node, `LAYERS` for unreachable nodes, and the shape of the directions."""
    matrix = csr_array((np.ones(links.shape[1]), links), shape=(count, count))
    arriving, leaving = (np.bincount(ends, minlength=count) for ends in (links[1], links[0]))
    sources, sinks = np.flatnonzero(arriving == 0), np.flatnonzero(leaving == 0)
    distance = np.full(count, np.inf)
    if len(sources):
        distance = np.atleast_2d(shortest_path(matrix, unweighted=True, indices=sources)).min(axis=0)
    reached = np.isfinite(distance)
    layer = np.where(reached, np.minimum(distance, LAYERS - 1), LAYERS).astype(np.int64)
    sizes = np.bincount(layer[reached], minlength=LAYERS)
    strong = connected_components(matrix, directed=True, connection="strong", return_labels=False)
    ends = distance[sinks][np.isfinite(distance[sinks])]
    lengths = [ends.min(), ends.max()] if len(ends) else [0.0, 0.0]
    spread = [distance[reached].mean(), distance[reached].max()] if reached.any() else [0.0, 0.0]
    shape = [*sizes, len(sources), len(sinks), count - reached.sum(), strong, *spread, *lengths]
    return layer, np.array(shape, np.float64)
