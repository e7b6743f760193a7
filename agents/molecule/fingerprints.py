"""The Tanimoto similarity of fingerprints, as a part of the kernel."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.molecule.traits import BINS, Counts
from gntk.engines import compile_loop


class TanimotoKernel:
    """Tanimoto similarity of counts.

        T(x, y) = sum_b min(x_b, y_b) / sum_b max(x_b, y_b)      [a kernel: Gower 1971; Ralaivola et al. 2005]

    It is 1 if both molecules have equal counts, which includes two without any feature.

    Args:
        counts: counts of the features of each molecule.
    """

    def __init__(self, counts: Counts) -> None:
        self.counts = counts

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return similarities `(q, n)`."""
        total = torch.zeros(len(index), len(rows), dtype=torch.float64)
        self.add_to(total, rows, index, 1.0)
        return total.T

    def add_to(self, total: Tensor, rows: Tensor, index: Tensor, weight: float) -> None:
        """Add the similarities, times a weight, to a sum of kernels.

        Args:
            total: `(n, q)` float64, a row of memory for each of the molecules `index`.
            rows: `(q,)` int64.
            index: `(n,)` int64.
            weight: of this kernel.
        """
        dense, sizes = to_dense(self.counts.take(rows.numpy()))
        counts = self.counts
        tanimoto(dense, sizes, counts.offsets, counts.bins, counts.counts, index.numpy(), weight, total.numpy())

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones."""
        return torch.ones(len(index), dtype=torch.float64)


def to_dense(counts: Counts) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64]]:
    """Return the counts of q molecules as a matrix `(BINS, q)`, of bytes if all counts are small, and their sums."""
    kind = np.uint8 if counts.counts.max(initial=0) < 256 else np.uint16
    dense = np.zeros((BINS, len(counts)), kind)
    owner = np.repeat(np.arange(len(counts)), np.diff(counts.offsets))
    dense[counts.bins, owner] = counts.counts
    return dense, np.bincount(owner, counts.counts, len(counts)).astype(np.int64)


@compile_loop
def tanimoto(
    dense: NDArray[np.unsignedinteger],
    sizes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    bins: NDArray[np.uint16],
    counts: NDArray[np.uint16],
    index: NDArray[np.int64],
    weight: float,
    total: NDArray[np.float64],
) -> None:
    """Compare n molecules with q others, and add the similarities, times a weight, to a matrix.

    The innermost loop runs over neighbours in memory.

    Args:
        dense: `(bins, q)`. Counts of the q others.
        sizes: `(q,)`. Their sums.
        offsets: as in `Counts`.
        bins: as in `Counts`.
        counts: as in `Counts`.
        index: `(n,)`. Which molecules of these counts to compare.
        weight: of the similarities.
        total: `(n, q)`. What is added to.
    """
    width = dense.shape[1]
    common = np.empty(width, np.uint32)
    for place in range(len(index)):
        begin, end = offsets[index[place]], offsets[index[place] + 1]
        common[:] = 0
        size = 0
        for entry in range(begin, end):
            count, those = counts[entry], dense[bins[entry]]
            size += count
            for row in range(width):
                common[row] += those[row] if those[row] < count else count
        for row in range(width):
            union = 1.0 * (size + sizes[row] - common[row])
            total[place, row] += weight * (common[row] / union if union > 0 else 1.0)
