"""Stochastic gradient descent on the penalised squared loss: the plain form that the fast forms are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from gntk.aggregation import AggregatedGraphs, select_graphs
from gntk.empirical import weighted_gradient


@dataclass(frozen=True, eq=False)
class Batches:
    """Hold the batches of a descent, one after the other.

    Attributes:
        index: `(n,)` int64. Graphs, repeats allowed.
        targets: `(n,)` floating point. y of each graph.
        offsets: `(S + 1,)` int64. The entries of batch s are `offsets[s]:offsets[s + 1]`, at least one.
    """

    index: Tensor
    targets: Tensor
    offsets: Tensor

    @classmethod
    def of_size(cls, index: Tensor, targets: Tensor, size: int) -> Batches:
        """Cut `(n,)` graphs and targets into batches of `size`; the last one may be smaller."""
        offsets = torch.arange(0, len(index) + size, size).clamp(max=len(index))
        return cls(index, targets, offsets)

    def to(self, device: torch.device) -> Batches:
        """Return the same batches with index and targets on a device."""
        return Batches(self.index.to(device), self.targets.to(device), self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        sizes = self.offsets.diff().tolist()
        return zip(self.index.split(sizes), self.targets.split(sizes), strict=True)


def descend(
    weights: Sequence[Tensor],
    centers: Sequence[Tensor],
    graphs: AggregatedGraphs,
    batches: Batches,
    learning_rate: float,
    penalty: float,
) -> list[Tensor]:
    """Take one step of gradient descent per batch.

        theta <- theta - eta ((1/b) sum_{G in batch} (f(G) - y_G) psi(G) + c (theta - theta_c))

    Args:
        weights: theta, L matrices; not changed.
        centers: theta_c, of the same shapes.
        graphs: K graphs.
        batches: batches of indices of these graphs.
        learning_rate: eta.
        penalty: c.

    Returns:
        theta after the last batch.
    """
    moved = [weight.clone() for weight in weights]
    for index, targets in batches:
        _, gradients = weighted_gradient(moved, select_graphs(graphs, index), targets.to(graphs.nodes.dtype))
        for weight, gradient, center in zip(moved, gradients, centers, strict=True):
            weight -= learning_rate * (gradient / len(index) + penalty * (weight - center))
    return moved
