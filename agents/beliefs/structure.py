"""Node features for networks: the given ones, with structural features added if the given ones are uninformative."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from agents.contract.settings import NodeCount, NodeFeaturesName
from gntk import AggregatedGraphs, aggregate_neighbours, join_graphs, keep_nodes, select_graphs

if TYPE_CHECKING:
    from torch_geometric.data import Batch

ALIKE = 0.25  # of 17 kinds of graphs, those with uninformative features are below .15, and the others above .39
PLANE = 0.05  # those kinds are at 0; molecules, with similar nodes that differ in many ways, are above .09
DEGREES, SIZES = 8, 6  # bins


@dataclass(frozen=True, eq=False)
class NodeFeatures:
    """The inputs h_i of a network. Later graphs are treated like those of `reset`."""

    reads_edges: bool = True
    """True if nodes are aggregated over their neighbours. If False, they are kept, as by the NN baselines."""
    keep_isolated: bool = True
    """True if an isolated node keeps its own features. If False, they are replaced by 0, as in the paper."""
    own_count: bool = False
    """Divide sums over the nodes of a graph by its node count. If False, divide by that of the largest first graph."""
    unit: float = 1.0
    """Mean length of the given features, used as their divisor if other features are added."""
    added: tuple[Tensor, ...] = ()
    """Boundaries of the added one-hot bins: of degrees, if edges are read, and of graph sizes."""

    @staticmethod
    def of(graphs: Batch, choice: NodeFeaturesName, node_count: NodeCount, reads_edges: bool = True) -> NodeFeatures:
        """Add bins of degrees and sizes if the h_i point in nearly one direction and lie nearly in a plane.

            1 - |mean of h_i|^2 < `ALIKE`,   1 - l_1 - l_2 < `PLANE`,   l_k the largest eigenvalues of mean h_i h_i^T

        Args:
            graphs: K graphs.
            choice: "given" adds no features and replaces nodes without neighbours by 0, as in the paper.
            node_count: the divisor of sums over nodes. "auto" is the graph's own count if features are added.
            reads_edges: as above.
        """
        if choice == "given":
            return NodeFeatures(reads_edges, keep_isolated=False, own_count=node_count == "own")
        plain = NodeFeatures(reads_edges, own_count=node_count == "own")
        nodes = plain.encode(graphs, own_count=True).nodes.double()
        nodes = nodes[(nodes != 0).any(1)]
        in_plane = torch.linalg.eigvalsh(nodes.T @ nodes / max(1, len(nodes)))[-2:].sum()
        if len(nodes) and (1 - nodes.mean(0).square().sum() >= ALIKE or 1 - in_plane >= PLANE):
            return plain
        unit = graphs.x.double().norm(dim=1).mean().item() or 1.0
        degrees = (bins_of(_degrees(graphs), DEGREES),) if reads_edges else ()
        added = (*degrees, bins_of(graphs.ptr.diff(), SIZES))
        return NodeFeatures(reads_edges, own_count=node_count != "largest", unit=unit, added=added)

    @property
    def addition(self) -> str:
        """Return a sentence about the added features, or an empty string."""
        if not self.added:
            return ""
        added = "degrees of nodes and sizes of graphs were" if self.reads_edges else "sizes of graphs were"
        return (
            f"The given features make nodes nearly alike, so {added} added to them. "
            'node_features="given" leaves them out.'
        )

    def encode(self, batch: Batch, *, own_count: bool) -> AggregatedGraphs:
        """Return the graphs in the input format of the paper's network."""
        if self.added:
            values = [_degrees(batch), batch.ptr.diff()[batch.batch]][-len(self.added) :]
            one_hot = [_one_hot(value, bins) for value, bins in zip(values, self.added, strict=True)]
            batch = batch.clone()
            batch.x = torch.cat([batch.x.double() / self.unit, *one_hot], dim=1).float()
        if self.reads_edges:
            return aggregate_neighbours(batch, own_count=own_count, keep_isolated=self.keep_isolated)
        return keep_nodes(batch, own_count=own_count)

    def exchange(
        self, encoded: AggregatedGraphs, kept: Tensor, graphs: Batch | None, own_count: bool
    ) -> AggregatedGraphs:
        """Return some of the graphs that `encode` returned, followed by new ones.

        Args:
            encoded: encoded graphs.
            kept: `(n,)` int64. The remaining graphs.
            graphs: the new graphs, or None.
            own_count: use the own node count of a new graph as its N, instead of the N of the others.
        """
        old = select_graphs(encoded, kept)
        if graphs is None:
            return old
        new = self.encode(graphs, own_count=True).to(encoded.nodes.dtype)
        divisors = new.divisors if own_count else torch.full_like(new.divisors, float(encoded.divisors[0]))
        return join_graphs(old, replace(new, divisors=divisors))


GIVEN_FEATURES = NodeFeatures()
"""The given features, with isolated nodes kept as they are."""


def bins_of(values: Tensor, most: int) -> Tensor:
    """Return boundaries between the distinct values `(n,)`, or between `most` bins of equal counts."""
    distinct = values.double().unique()
    if len(distinct) <= most:
        middles: Tensor = (distinct[1:] + distinct[:-1]) / 2
        return middles
    return torch.from_numpy(np.unique(np.quantile(values.numpy(), np.linspace(0, 1, most + 1)[1:-1])))


def _degrees(graphs: Batch) -> Tensor:
    degrees: Tensor = graphs.edge_index[1].bincount(minlength=graphs.num_nodes)
    return degrees


def _one_hot(values: Tensor, boundaries: Tensor) -> Tensor:
    bins = torch.bucketize(values.double(), boundaries, right=True)
    return torch.nn.functional.one_hot(bins, len(boundaries) + 1).double()
