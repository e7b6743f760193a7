"""The interface of parts of the kernel: what is read of graphs, the parts that come of it, and all parts of a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import torch
from torch import Tensor

from agents.beliefs.posterior import Kernel

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

SAMPLE = 500  # graphs, evenly spaced, whose differences stand for those of all
SMALLEST = 1e-9  # of the kernel of a graph with itself: graphs that differ by less are equal


class Facing(Protocol):
    """Weighted kernels to q graphs, to be added to a sum."""

    def add_to(self, total: Tensor, index: Tensor) -> None:
        """Add those of the graphs `index` `(n,)` to `total` `(n, q)` float64, a block of contiguous memory."""


@runtime_checkable
class FastKernel(Kernel, Protocol):
    """A kernel that adds its columns to a sum faster than it returns them."""

    def facing(self, rows: Tensor, weight: float) -> Facing:
        """Return what adds the kernel to the graphs `rows` `(q,)`, times a weight, to a sum."""


class Reading(Protocol):
    """What is read of a set of graphs for one part of the kernel, or for some that differ in their width.

    It never changes.
    """

    @property
    def name(self) -> str:
        """Return what it compares."""

    def kernels(self) -> Sequence[tuple[float, Kernel]]:
        """Return kernels of the graphs, each with its share of the part; the same number of them for all graphs."""

    def exchange(self, kept: Tensor, graphs: Batch | None) -> Reading:
        """Return what is read of the graphs in the slots `kept` `(n,)` int64, and of new ones after them.

        What was chosen for the graphs of `reset`, such as scales, stays.
        """

    def known(self) -> Sequence[Tensor]:
        """Return tensors that identify the graphs to the part."""


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the kernel."""

    name: str
    """What it compares; parts of one name differ in their width."""
    weight: float
    """Its weight before any result."""
    kernel: Kernel
    """Its kernel."""
    typical: float = 1.0
    """The variance over the set of rewards whose covariance is its kernel: `typical_variance`, or 1 if it has unit
    diagonal and that stands for it."""


class Description(Protocol):
    """A set of graphs as a Gaussian process reads it. It never changes."""

    @property
    def parts(self) -> Sequence[Part]:
        """Return the parts of the kernel."""

    @property
    def names(self) -> Sequence[str]:
        """Return a name of each graph, which chooses among equal ones."""

    def mixture(self, weights: Sequence[float]) -> Kernel:
        """Return the sum of the parts with these weights."""

    def exchange(self, kept: Tensor, graphs: Sequence[Data]) -> Description:
        """Return the graphs in the slots `kept` `(n,)` int64, and then new ones, compared by the same parts.

        Raises:
            ValueError: if these graphs cannot change.
        """

    def known(self) -> list[Tensor]:
        """Return tensors that identify the graphs to the kernel."""


def typical_variance(kernel: Kernel, count: int) -> float:
    """Return the variance over a set of rewards drawn from N(0, K), on average over draws.

        v = (1/n) sum_i k(i, i) - (1/n^2) sum_ij k(i, j)

    Args:
        kernel: the kernel of a set.
        count: number of its graphs, of which `SAMPLE` that are evenly spaced stand for all.

    Returns:
        v; 0 if it is a rounding error: all graphs are equal to the kernel, so that it tells nothing.
    """
    size = min(count, SAMPLE)
    some = torch.arange(size) * count // size
    within = kernel.columns(some, some)
    own = within.diagonal().mean()
    variance = float(own - within.mean())
    return variance if variance > SMALLEST * float(own) else 0.0
