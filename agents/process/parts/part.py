"""The interface of parts of the kernel, and the simplest part: what is a graph's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import torch
from torch import Tensor

if TYPE_CHECKING:
    from torch_geometric.data import Batch

SMALLEST = 1e-9  # of the kernel of a graph with itself: graphs that differ by less are equal

AddTo: TypeAlias = Callable[[Tensor, Tensor], None]
"""A function that adds weighted kernels between q graphs and the graphs `index` `(n,)` to sums `(n, q)` float64."""


class Reading(Protocol):
    """What is read of a set of graphs for one part of the kernel, which is one kernel, or some that differ in width.

    It never changes.
    """

    @property
    def name(self) -> str:
        """Return what it compares."""

    @property
    def shares(self) -> Sequence[float]:
        """Return the share of each kernel in the part: e numbers, the same number of them for all graphs."""

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernels between two lists of graphs, `(q,)` and `(n,)` int64: `(e, q, n)` float64."""

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernels of graphs with themselves, `(e, n)` float64."""


class GraphReading(Reading, Protocol):
    """What is read of graphs that may change."""

    def exchange(self, kept: Tensor, graphs: Batch | None) -> GraphReading:
        """Return what is read of the graphs in the slots `kept` `(n,)` int64, and of new ones after them.

        What was chosen for the graphs of `reset`, such as scales, stays.
        """

    def known(self) -> Sequence[Tensor]:
        """Return tensors that identify the graphs to the part."""


@runtime_checkable
class FastReading(Reading, Protocol):
    """A reading that adds its kernels to a sum faster than it returns them."""

    def facing(self, rows: Tensor, weights: Sequence[float]) -> AddTo:
        """Return what adds its kernels to the graphs `rows` `(q,)`, times e weights, to a sum."""


@dataclass(frozen=True)
class Part:
    """A part of the kernel: a kernel, and its weight."""

    name: str
    """What it compares; parts of one name differ in their width."""
    weight: float
    """Its weight before any result."""
    typical: float = 1.0
    """The variance over the set of rewards whose covariance is its kernel: `typical_variance`, or 1 if it has unit
    diagonal and that stands for it."""


def typical_variance(kernels: Tensor) -> Tensor:
    """Return the variance over a set of rewards drawn from N(0, K), on average over draws.

        v = (1/n) sum_i k(i, i) - (1/n^2) sum_ij k(i, j)

    Args:
        kernels: `(e, n, n)` float64. Some kernels of n graphs that stand for a set.

    Returns:
        `(e,)` float64. v of each; 0 if it is a rounding error: all graphs are equal to the kernel.
    """
    own = kernels.diagonal(dim1=1, dim2=2).mean(1)
    variance = own - kernels.mean((1, 2))
    return variance.where(variance > SMALLEST * own, 0.0)


@dataclass(frozen=True)
class Itself:
    """A kernel that is 1 between a graph and itself, and 0 between others: graphs that look equal may differ."""

    count: int
    """Number of graphs."""
    name: str = "the graph itself"
    """What it compares."""
    shares: Sequence[float] = (1.0,)
    """Of one kernel."""

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return ones where graphs are the same, else zeros, `(1, q, n)`."""
        return (rows.unsqueeze(1) == index).double().unsqueeze(0)

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones, `(1, n)`."""
        return torch.ones(1, len(index), dtype=torch.float64)

    def exchange(self, kept: Tensor, graphs: Batch | None) -> Itself:
        """Return the kernel of some graphs and new ones."""
        return Itself(len(kept) + (0 if graphs is None else graphs.num_graphs))

    def known(self) -> Sequence[Tensor]:
        """Return the number of graphs."""
        return [torch.tensor(self.count)]
