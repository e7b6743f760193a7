"""Compare graphs as a graph network does: the GNTK of infinite or finite width as a part of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor

from agents.beliefs.structure import GIVEN_FEATURES, NodeFeatures
from gntk import AggregatedGraphs, infinite_width_kernel, select_graphs

if TYPE_CHECKING:
    from torch_geometric.data import Batch

MOST_WHOLE, MOST_NODES = 2000, 20_000  # graphs and nodes up to which the whole kernel costs ten columns
MOST_PRODUCTS, PAIR = 1e11, 20  # of features, over all pairs of nodes: ten seconds; the fixed cost of a pair
COLUMNS = 200  # graphs compared with all others, if there are many
AT_A_TIME = 8  # graphs per kernel if only its diagonal is needed


@dataclass(frozen=True, eq=False)
class Network:
    """The infinite-width GNTK of graphs      [`gntk.infinite_width_kernel`]."""

    graphs: AggregatedGraphs
    """The graphs, with aggregated nodes."""
    depth: int
    """L, number of weight matrices of the network."""
    own_count: bool
    """Divide the sum over a graph's nodes by their number. If False, divide by the largest of the graphs of `reset`."""
    at_once: bool = False
    """Compute the kernel of all graphs as a whole, and cache it."""
    features: NodeFeatures = GIVEN_FEATURES
    """Treatment of node features."""
    shares: Sequence[float] = (1.0,)
    """Share of the only kernel."""

    @staticmethod
    def of(batch: Batch, depth: int, own_count: bool, features: NodeFeatures = GIVEN_FEATURES) -> Network:
        """Read K graphs."""
        graphs = sample_nodes(features.encode(batch, own_count=own_count))
        at_once = len(graphs) <= MOST_WHOLE and len(graphs.nodes) <= MOST_NODES
        return Network(graphs, depth, own_count, at_once, features)

    @property
    def name(self) -> str:
        """Return the name of the compared features."""
        return "network of means" if self.own_count else "network"

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel between two lists of graphs, `(1, q, n)`."""
        kernel = self._between(rows, index) if self._whole is None else self._whole[rows][:, index]
        return kernel.unsqueeze(0)

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of graphs with themselves, `(1, n)`."""
        if self._whole is not None:
            return self._whole.diagonal()[index].unsqueeze(0)
        blocks = (self._between(block, block).diagonal() for block in index.split(AT_A_TIME))
        return torch.cat(list(blocks)).unsqueeze(0)

    def exchange(self, kept: Tensor, graphs: Batch | None) -> Self:
        """Return the remaining graphs, followed by new ones."""
        encoded = self.features.exchange(self.graphs, kept, graphs, self.own_count)
        return replace(self, graphs=sample_nodes(encoded), at_once=False)

    def known(self) -> Sequence[Tensor]:
        """Return the aggregated graphs."""
        return [self.graphs.nodes, self.graphs.offsets, self.graphs.divisors]

    @cached_property
    def _whole(self) -> Tensor | None:
        every = torch.arange(len(self.graphs))
        return self._between(every, every) if self.at_once else None

    def _between(self, rows: Tensor, index: Tensor) -> Tensor:
        some = select_graphs(self.graphs, rows)
        return infinite_width_kernel(some, self.depth, others=None if rows is index else self._take(index))

    def _take(self, index: Tensor) -> AggregatedGraphs:
        every = len(index) == len(self.graphs) and bool((index == torch.arange(len(index))).all())
        return self.graphs if every else select_graphs(self.graphs, index)


def sample_nodes(graphs: AggregatedGraphs) -> AggregatedGraphs:
    """Return a sample of the nodes of each graph if all are too expensive to compare.

    Nodes are evenly spaced in the order of a random number w^T h, which does not depend on the order of the nodes.
    """
    count, sizes = len(graphs), graphs.offsets.diff()
    pairs = max(1, count * min(count, COLUMNS))
    most = int((MOST_PRODUCTS / (graphs.feature_dim + PAIR) / pairs) ** 0.5)  # nodes of a graph
    if not count or int(sizes.max()) <= most or len(graphs.nodes) <= most * count:
        return graphs
    direction = torch.randn(graphs.feature_dim, generator=torch.Generator().manual_seed(0), dtype=graphs.nodes.dtype)
    order, chosen, most = graphs.nodes @ direction, list[Tensor](), max(1, most)
    for begin, size in zip(graphs.offsets.tolist(), sizes.tolist(), strict=False):
        ranked = begin + order[begin : begin + size].argsort(stable=True)
        places = torch.arange(size) if size <= most else (torch.arange(most) * 2 + 1) * size // (2 * most)
        chosen.append(ranked[places])
    kept = torch.tensor([len(places) for places in chosen])
    offsets = torch.nn.functional.pad(kept.cumsum(0), (1, 0))
    return replace(
        graphs, nodes=graphs.nodes[torch.cat(chosen)], offsets=offsets, divisors=graphs.divisors * (kept / sizes)
    )
