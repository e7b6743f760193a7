"""Compare graphs as an infinitely wide graph network does: the GNTK, as a part of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Batch

from agents.beliefs.encoding import encode_more
from agents.beliefs.posterior import Kernel
from gntk import AggregatedGraphs, aggregate_neighbours, infinite_width_kernel, select_graphs

MOST_WHOLE, MOST_NODES = 2000, 20_000  # graphs, and nodes of all of them, of a kernel that takes a second
AT_A_TIME = 8  # graphs of which the kernel is computed where only its diagonal is wanted


@dataclass(frozen=True, eq=False)
class Network:
    """The infinite-width GNTK of graphs      [`gntk.infinite_width_kernel`]."""

    graphs: AggregatedGraphs
    """The graphs, with aggregated nodes."""
    depth: int
    """L, number of weight matrices of the network."""
    own_count: bool
    """Whether the sum over a graph's nodes is divided by their number; else by the largest of the graphs of `reset`."""

    @staticmethod
    def of(batch: Batch, depth: int, own_count: bool) -> Network:
        """Read K graphs."""
        return Network(aggregate_neighbours(batch, own_count=own_count), depth, own_count)

    @property
    def is_cheap(self) -> bool:
        """Return whether the kernel of all graphs takes no longer than some ten of its columns take otherwise."""
        return len(self.graphs) <= MOST_WHOLE and len(self.graphs.nodes) <= MOST_NODES

    @property
    def name(self) -> str:
        """Return what it compares."""
        return "network of means" if self.own_count else "network"

    def kernels(self) -> Sequence[tuple[float, Kernel]]:
        """Return the kernel."""
        return [(1.0, self)]

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel between two lists of graphs, `(q, n)`."""
        same = rows is index
        some = select_graphs(self.graphs, rows)
        every = len(index) == len(self.graphs) and bool((index == torch.arange(len(index))).all())
        others = None if same else self.graphs if every else select_graphs(self.graphs, index)
        return infinite_width_kernel(some, self.depth, others=others)

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of graphs with themselves, `(n,)`."""
        return torch.cat([self.columns(block, block).diagonal() for block in index.split(AT_A_TIME)])

    def exchange(self, kept: Tensor, graphs: Batch | None) -> Network:
        """Return the graphs that stay, and then new ones."""
        new = [] if graphs is None else graphs.to_data_list()
        return replace(self, graphs=encode_more(aggregate_neighbours, self.graphs, kept, new, self.own_count))

    def known(self) -> Sequence[Tensor]:
        """Return the aggregated graphs."""
        return [self.graphs.nodes, self.graphs.offsets, self.graphs.divisors]
