"""A kernel of which only the matrix is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

if TYPE_CHECKING:
    from torch_geometric.data import Batch


@dataclass(frozen=True, eq=False)
class GivenKernel:
    """Graphs with a kernel of which only the matrix is known."""

    matrix: Tensor
    """`(K, K)` float64."""
    name: str = "given kernel"
    """What it compares."""
    shares: Sequence[float] = (1.0,)
    """Of one kernel."""

    @staticmethod
    def of(matrix: Tensor, batch: Batch) -> GivenKernel:
        """Take the kernel of K graphs.

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
