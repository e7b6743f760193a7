"""Aggregate the nodes of a graph set once, in the ragged input format of the network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from torch_geometric.data import Batch

EDGES_PER_BLOCK = 1 << 20  # bounds the temporary of gathered neighbours to this many feature rows


@dataclass(frozen=True, eq=False)
class AggregatedGraphs:
    """Hold the aggregated nodes h_i of all graphs, one graph after the other, without edges.

    Attributes:
        nodes: `(M, d)` floating point. h_i of every node of every graph, where M is the sum of the node counts.
        offsets: `(K + 1,)` int64. The rows of graph k are `offsets[k]:offsets[k + 1]`.
        divisors: `(K,)`, same type as `nodes`. N, the divisor of the sum over the nodes of each graph.
    """

    nodes: Tensor
    offsets: Tensor
    divisors: Tensor

    def __len__(self) -> int:
        return len(self.divisors)

    @property
    def feature_dim(self) -> int:
        """Return d, the number of features of a node."""
        return self.nodes.shape[1]

    @cached_property
    def sizes(self) -> Tensor:
        """Return the `(K,)` int64 node counts."""
        return self.offsets.diff()

    @cached_property
    def graph_index(self) -> Tensor:
        """Return the index of the graph of each node, `(M,)` int64."""
        return torch.repeat_interleave(torch.arange(len(self), device=self.nodes.device), self.sizes)

    def to(self, dtype: torch.dtype, device: torch.device | None = None) -> AggregatedGraphs:
        """Return the same graphs with nodes of this floating point type, on this device (None: their own)."""
        device = device or self.nodes.device
        if self.nodes.dtype == dtype and self.nodes.device == device:
            return self
        return AggregatedGraphs(self.nodes.to(device, dtype), self.offsets.to(device), self.divisors.to(device, dtype))

    def sum_over_nodes(self, values: Tensor) -> Tensor:
        """Sum `(M, ...)` values of nodes into `(K, ...)` values of graphs."""
        return values.new_zeros(len(self), *values.shape[1:]).index_add_(0, self.graph_index, values)


def aggregate_neighbours(
    batch: Batch, num_nodes: int | None = None, *, own_count: bool = False, keep_isolated: bool = False
) -> AggregatedGraphs:
    """Sum the features of each node's neighbours and scale the sum to unit length.

        h_i = u(sum_{j in N(i)} X_j),   u(x) = x / |x|,   u(0) = 0      [Wu & Amini 2024, Section 3.1]

    Args:
        batch: K graphs. `x` is `(M, d)`, `edge_index` is `(2, E)` int64. N(i) are the nodes j with an edge (j, i). An
            undirected edge is stored in both directions.
        num_nodes: N, at least the largest node count. None: the largest node count of this batch.
        own_count: divide the sum over a graph's nodes by its own node count instead of by N.
        keep_isolated: set h_i = u(X_i) for a node without neighbours. If False, set it to 0, as in the paper.

    Returns:
        The K graphs in the input format of the network: float32 if `x` holds integers, otherwise of the type of `x`.

    Raises:
        TypeError: if `batch` is not a PyG Batch.
        ValueError: if there are no graphs, a graph has no nodes, features are missing or not finite, edges are missing
            or out of range, or `num_nodes` is below the largest node count.
    """
    return _from_batch(batch, partial(_unit_sum_of_neighbours, keep_isolated=keep_isolated), num_nodes, own_count)


def keep_nodes(batch: Batch, num_nodes: int | None = None, *, own_count: bool = False) -> AggregatedGraphs:
    """Ignore the edges, as the NN baselines of the paper do: each node is its only neighbour (A = I).

        h_i = u(X_i),   u(x) = x / |x|,   u(0) = 0

    Args:
        batch: K graphs. `x` is `(M, d)`.
        num_nodes: as in `aggregate_neighbours`.
        own_count: as in `aggregate_neighbours`.

    Returns:
        The K graphs, as from `aggregate_neighbours`.

    Raises:
        TypeError: as in `aggregate_neighbours`.
        ValueError: as in `aggregate_neighbours`.
    """
    return _from_batch(batch, lambda batch: _directions(batch.x.double()), num_nodes, own_count)


def select_graphs(graphs: AggregatedGraphs, index: Tensor) -> AggregatedGraphs:
    """Select graphs of a set by index, with repeats allowed. Each graph keeps its N.

    Args:
        graphs: K graphs.
        index: `(n,)` int64. Indices of the graphs to select.

    Returns:
        The n graphs, in the order of `index`.
    """
    sizes = graphs.sizes[index]
    offsets = torch.nn.functional.pad(sizes.cumsum(0), (1, 0))
    shifts = torch.repeat_interleave(graphs.offsets[index] - offsets[:-1], sizes)
    rows = torch.arange(len(shifts), device=shifts.device) + shifts
    return AggregatedGraphs(graphs.nodes[rows], offsets, graphs.divisors[index])


def join_graphs(first: AggregatedGraphs, second: AggregatedGraphs) -> AggregatedGraphs:
    """Concatenate the graphs of two sets. Each graph keeps its N.

    Args:
        first: K graphs with nodes `(M, d)`.
        second: L graphs with nodes `(P, d)` of the same type.

    Returns:
        K + L graphs with nodes `(M + P, d)`.
    """
    return AggregatedGraphs(
        torch.cat([first.nodes, second.nodes]),
        torch.cat([first.offsets, second.offsets[1:] + first.offsets[-1]]),
        torch.cat([first.divisors, second.divisors]),
    )


def as_aggregated(graphs: Batch | AggregatedGraphs, num_nodes: int | None = None) -> AggregatedGraphs:
    """Return aggregated graphs unchanged, with their own N, and aggregate the neighbours of others."""
    return graphs if isinstance(graphs, AggregatedGraphs) else aggregate_neighbours(graphs, num_nodes)


def _from_batch(
    batch: Batch, encode: Callable[[Batch], Tensor], num_nodes: int | None, own_count: bool
) -> AggregatedGraphs:
    _check_batch(batch)
    sizes = batch.ptr.diff()
    if len(sizes) == 0 or int(sizes.min()) == 0:
        raise ValueError("Expected at least one graph, and at least one node in each. Got none, or an empty graph.")
    largest = int(sizes.max())
    if num_nodes is not None and num_nodes < largest:
        raise ValueError(f"Expected `num_nodes` to be at least {largest}, the largest graph. Got {num_nodes}.")
    divisors = sizes if own_count else torch.full_like(sizes, num_nodes or largest)
    nodes = encode(batch).to(batch.x.dtype if batch.x.is_floating_point() else torch.float32)
    return AggregatedGraphs(nodes, batch.ptr, divisors.to(nodes.dtype))


def _check_batch(batch: Batch) -> None:
    from torch_geometric.data import Batch

    if not isinstance(batch, Batch) or getattr(batch, "ptr", None) is None:
        raise TypeError(
            f"Expected a PyG Batch. Got {type(batch).__name__}. Make one with `Batch.from_data_list([...])`."
        )
    if batch.x is None or batch.x.ndim != 2:
        shape = "none" if batch.x is None else f"`{tuple(batch.x.shape)}`"
        raise ValueError(f"Expected a batch with node features `x` of shape `(M, d)`. Got {shape}.")
    if batch.edge_index is None:
        raise ValueError("Expected a batch with `edge_index`. Got none. For no edges, give one of shape `(2, 0)`.")
    if not batch.x.isfinite().all():
        raise ValueError(f"Expected finite node features. Got {int((~batch.x.isfinite()).sum())} that are not finite.")
    edges = batch.edge_index
    if edges.numel() and not (int(edges.min()) >= 0 and int(edges.max()) < len(batch.x)):
        raise ValueError(
            f"Expected edges between nodes 0 to {len(batch.x) - 1}. Got nodes {int(edges.min())} to {int(edges.max())}."
        )


def _unit_sum_of_neighbours(batch: Batch, keep_isolated: bool) -> Tensor:
    # Sums and lengths are float64, so that a length that should be 0 does not become a rounding error instead.
    sums = torch.zeros(batch.x.shape, dtype=torch.float64, device=batch.x.device)
    for source, target in batch.edge_index.split(EDGES_PER_BLOCK, dim=1):
        sums.index_add_(0, target, batch.x[source].double())
    if keep_isolated:
        isolated = torch.ones(len(sums), dtype=torch.bool, device=sums.device)
        isolated[batch.edge_index[1]] = False
        sums[isolated] = batch.x[isolated].double()
    return _directions(sums)


def _directions(rows: Tensor) -> Tensor:
    """Scale rows to unit length. A row of zeros stays zero."""
    length = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    directions: Tensor = rows / length.where(length > 0, 1.0)
    return directions
