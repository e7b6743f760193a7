"""Compare graphs by functions that are linear in a few numbers: means of nodes, and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from scipy.spatial.distance import cdist
from torch import Tensor
from torch_geometric.data import Batch

from gntk import aggregate_neighbours

FLAT = 100.0  # prior variance of the constant, in units of that of a weight


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


@dataclass(frozen=True, eq=False)
class LinearFunctions:
    """The kernel of functions that are linear in features z, as in Bayesian linear regression.

        k(G, G') = <z, z'> + c,   c = `FLAT`      [Rasmussen & Williams 2006, Sec. 2.1]

    Features have mean 0 and standard deviation 1 over the graphs of `reset`, and those of other graphs are scaled
    alike. One that does not differ between those of `reset` keeps its unit.
    """

    features: Tensor
    """`(K, p)` float64. z."""
    middle: Tensor
    """`(p,)` float64. Means over the graphs of `reset`."""
    spread: Tensor
    """`(p,)` float64. Standard deviations, or 1."""
    name: str = "mean nodes and sizes"
    """What it compares."""
    shares: Sequence[float] = (1.0,)
    """Of one kernel."""

    @staticmethod
    def of(batch: Batch) -> LinearFunctions:
        """Describe graphs, and take them for the scale."""
        described = describe(batch)
        middle, spread = described.mean(0), described.std(0, correction=0)
        spread = spread.where(spread > 1e-9 * (1 + described.abs().max(0).values), 1.0)
        return LinearFunctions((described - middle) / spread, middle, spread)

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel between two lists of graphs, `(1, q, n)`."""
        between = torch.from_numpy(cdist(self.features[rows].numpy(), self.features[index].numpy(), "sqeuclidean"))
        squares = self._squares
        products = (squares[rows].unsqueeze(1) + squares[index] - between) / 2  # whatever the company, the same bits
        return (products + FLAT).unsqueeze(0)

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of graphs with themselves, `(1, n)`."""
        return (self._squares[index] + FLAT).unsqueeze(0)

    def exchange(self, kept: Tensor, graphs: Batch | None) -> LinearFunctions:
        """Return the features of the graphs that stay, and of new ones."""
        old = self.features[kept]
        new = old[:0] if graphs is None else (describe(graphs) - self.middle) / self.spread
        return replace(self, features=torch.cat([old, new]))

    def known(self) -> Sequence[Tensor]:
        """Return the features."""
        return [self.features]

    @cached_property
    def _squares(self) -> Tensor:
        return self.features.square().sum(1)
