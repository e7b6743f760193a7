"""The interface of parts of the kernel, and the simplest ones: the graph-specific part, and a given matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

if TYPE_CHECKING:
    from torch_geometric.data import Batch

SMALLEST = 1e-9  # of the kernel of a graph with itself: graphs with smaller differences are equal

AddTo: TypeAlias = Callable[[Tensor, Tensor], None]
"""A function that adds weighted kernels between q graphs and the graphs `index` `(n,)` to sums `(n, q)` float64."""


class Reading(Protocol):
    """The data of a set of graphs for one part of the kernel: one kernel, or several that differ in width.

    It is immutable.
    """

    @property
    def name(self) -> str:
        """Return the name of the compared features."""

    @property
    def shares(self) -> Sequence[float]:
        """Return the share of each kernel in the part: e numbers, the same for all graphs."""

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernels between two lists of graphs, `(q,)` and `(n,)` int64: `(e, q, n)` float64."""

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernels of graphs with themselves, `(e, n)` float64."""


class GraphReading(Reading, Protocol):
    """The reading of graphs that may change."""

    def exchange(self, kept: Tensor, graphs: Batch | None) -> GraphReading:
        """Return the reading of the graphs in the slots `kept` `(n,)` int64, followed by new ones.

        Choices made for the graphs of `reset`, such as scales, stay.
        """

    def known(self) -> Sequence[Tensor]:
        """Return tensors that identify the graphs to the part."""


@runtime_checkable
class FastReading(Reading, Protocol):
    """A reading that adds its kernels to a sum faster than it returns them."""

    def facing(self, rows: Tensor, weights: Sequence[float]) -> AddTo:
        """Return a function that adds kernels to the graphs `rows` `(q,)`, times e weights, to a sum."""


@dataclass(frozen=True)
class Part:
    """A part of the kernel: a kernel, and its weight."""

    name: str
    """Name of the compared features. Parts of one name differ in width."""
    weight: float
    """Prior weight of the part."""
    typical: float = 1.0
    """Variance over the set of rewards whose covariance is its kernel: `typical_variance`, or 1 if its unit diagonal
    serves as such."""


def typical_variance(kernels: Tensor) -> Tensor:
    """Return the variance over a set of rewards drawn from N(0, K), on average over draws.

        v = (1/n) sum_i k(i, i) - (1/n^2) sum_ij k(i, j)

    Args:
        kernels: `(e, n, n)` float64. Some kernels of n graphs that represent a set.

    Returns:
        `(e,)` float64. v of each, or 0 if it is a rounding error because the kernel does not distinguish the graphs.
    """
    own = kernels.diagonal(dim1=1, dim2=2).mean(1)
    variance = own - kernels.mean((1, 2))
    return variance.where(variance > SMALLEST * own, 0.0)


@dataclass(frozen=True)
class Itself:
    """A kernel of 1 between a graph and itself, and 0 between others: graphs with equal features may differ."""

    count: int
    """Number of graphs."""
    name: str = "the graph itself"
    """Name of the part."""
    shares: Sequence[float] = (1.0,)
    """Share of the only kernel."""

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return ones for the same graph, and zeros otherwise, `(1, q, n)`."""
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


@dataclass(frozen=True, eq=False)
class GivenKernel:
    """Graphs with a given kernel matrix."""

    matrix: Tensor
    """`(K, K)` float64."""
    name: str = "given kernel"
    """Name of the part."""
    shares: Sequence[float] = (1.0,)
    """Share of the only kernel."""

    @staticmethod
    def of(matrix: Tensor, batch: Batch) -> GivenKernel:
        """Wrap the kernel of K graphs.

        Raises:
            ValueError: if there are not K graphs.
        """
        if len(matrix) != batch.num_graphs:
            raise ValueError(f"Expected a kernel of {batch.num_graphs} graphs. Got {len(matrix)}.")
        return GivenKernel(matrix)

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel between two lists of graphs, `(1, q, n)`."""
        return self.matrix[rows][:, index].unsqueeze(0)

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of graphs with themselves, `(1, n)`."""
        return self.matrix.diagonal()[index].unsqueeze(0)

    def exchange(self, kept: Tensor, graphs: Batch | None) -> GivenKernel:
        """Refuse other graphs."""
        raise ValueError(
            "Expected the graphs of `reset` in each observation, because a given `kernel_matrix` is that of these "
            'graphs. Got other graphs. Make the agent with kernel="infinite".'
        )

    def known(self) -> Sequence[Tensor]:
        """Return the kernel."""
        return [self.matrix]


def check_kernel(kernel: ArrayLike) -> Tensor:
    """Return a kernel as `(K, K)` float64.

    Raises:
        ValueError: if it is not finite, symmetric and positive semi-definite.
    """
    array = np.asarray(kernel, np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not np.isfinite(array).all():
        count = int((~np.isfinite(array)).sum())
        raise ValueError(
            f"Expected a finite kernel of shape `(K, K)`. Got shape `{array.shape}`, with {count} entries that are not "
            "finite."
        )
    if not np.allclose(array, array.T) or np.linalg.eigvalsh(array)[0] < -1e-8 * np.abs(array).max():
        raise ValueError("Expected a symmetric and positive semi-definite kernel. Got one that is not.")
    return torch.from_numpy((array + array.T) / 2)
