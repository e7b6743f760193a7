"""Node features for networks: as they are given or, if these make graphs alike, with what the structure says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from agents.contract.settings import NodeCount, NodeFeaturesName
from gntk import AggregatedGraphs, aggregate_neighbours

if TYPE_CHECKING:
    from torch_geometric.data import Batch

ALIKE = 0.25  # of 17 kinds of graphs, those whose features tell little are below .15, and the others above .39
DEGREES, SIZES = 8, 6  # bins


@dataclass(frozen=True, eq=False)
class NodeFeatures:
    """The features that a network reads of each node; of later graphs, in the way chosen for those of `reset`."""

    unit: float = 1.0
    """Mean length of the given features, which are divided by it."""
    degrees: Tensor | None = None
    """Boundaries between bins of degrees, which are added one-hot; None: the given features alone."""
    sizes: Tensor | None = None
    """The same of the numbers of nodes of graphs."""
    own_count: bool = False
    """Whether sums over the nodes of a graph are divided by their number; else by that of the largest first graph."""
    keep_isolated: bool = True
    """Whether a node without neighbours counts as its own."""

    @staticmethod
    def of(graphs: Batch, node_features: NodeFeaturesName, node_count: NodeCount) -> NodeFeatures:
        """Add bins of degrees and sizes if aggregated nodes point in nearly one direction, 1 - |mean of h_i|^2 < .25.

        Args:
            graphs: K graphs.
            node_features: "given": nothing is added, and nodes without neighbours count as 0, as in the paper.
            node_count: the divisor of sums over nodes; "auto": the graph's own if something is added.
        """
        if node_features == "given":
            return NodeFeatures(own_count=node_count == "own", keep_isolated=False)
        nodes = aggregate_neighbours(graphs, own_count=True, keep_isolated=True).nodes.double()
        nodes = nodes[(nodes != 0).any(1)]
        if len(nodes) and 1 - nodes.mean(0).square().sum() >= ALIKE:
            return NodeFeatures(own_count=node_count == "own")
        unit = graphs.x.double().norm(dim=1).mean().item() or 1.0
        bins = bins_of(_degrees(graphs), DEGREES), bins_of(graphs.ptr.diff(), SIZES)
        return NodeFeatures(unit, *bins, own_count=node_count != "largest")

    @property
    def addition(self) -> str:
        """Return what was added, as a sentence; empty: nothing."""
        if self.degrees is None:
            return ""
        return (
            "The given features make nodes nearly alike, so degrees of nodes and sizes of graphs were added to them. "
            'node_features="given" leaves them out.'
        )

    def __call__(self, graphs: Batch) -> Batch:
        """Return the graphs with these features."""
        if self.degrees is None or self.sizes is None:
            return graphs
        degrees = _one_hot(_degrees(graphs), self.degrees)
        sizes = _one_hot(graphs.ptr.diff(), self.sizes)[graphs.batch]
        described = graphs.clone()
        described.x = torch.cat([graphs.x.double() / self.unit, degrees, sizes], dim=1).float()
        return described

    def aggregate(self, batch: Batch, *, own_count: bool) -> AggregatedGraphs:
        """Aggregate the neighbours of each node with these features."""
        return aggregate_neighbours(self(batch), own_count=own_count, keep_isolated=self.keep_isolated)


GIVEN_FEATURES = NodeFeatures()
"""The given features; a node without neighbours counts as its own."""


def bins_of(values: Tensor, most: int) -> Tensor:
    """Return boundaries between the distinct values `(n,)`, or between `most` bins that hold equally many of them."""
    distinct = values.double().unique()
    if len(distinct) <= most:
        middles: Tensor = (distinct[1:] + distinct[:-1]) / 2
        return middles
    inner = np.quantile(values.numpy(), np.linspace(0, 1, most + 1)[1:-1])
    return torch.from_numpy(np.unique(inner))


def _degrees(graphs: Batch) -> Tensor:
    degrees: Tensor = graphs.edge_index[1].bincount(minlength=graphs.num_nodes)
    return degrees


def _one_hot(values: Tensor, boundaries: Tensor) -> Tensor:
    bins = torch.bucketize(values.double(), boundaries, right=True)
    return torch.nn.functional.one_hot(bins, len(boundaries) + 1).double()
