"""The Tanimoto similarity of fingerprints, as a part of the kernel."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.traits import BINS, Counts
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
        FacingCounts(self, rows, 1.0).add_to(total, index)
        return total.T

    def facing(self, rows: Tensor, weight: float) -> FacingCounts:
        """Return what adds similarities to these molecules, times a weight, to a sum."""
        return FacingCounts(self, rows, weight)

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones."""
        return torch.ones(len(index), dtype=torch.float64)


class FacingCounts:
    """Similarities to some molecules, times a weight, to be added to those of other kernels.

    Args:
        kernel: the kernel.
        rows: `(q,)` int64. The molecules. Their counts are kept as a dense matrix of the bins that they have, of bytes
            if all are small: 2,000 molecules have some 3,000 of these.
        weight: of the kernel.
    """

    def __init__(self, kernel: TanimotoKernel, rows: Tensor, weight: float) -> None:
        self._counts, self._weight = kernel.counts, weight
        mine = kernel.counts.take(rows.numpy())
        used = np.flatnonzero(np.bincount(mine.bins, minlength=BINS))
        self._row_of = np.full(BINS, -1, np.int64)
        self._row_of[used] = np.arange(len(used))
        owner = np.repeat(np.arange(len(mine)), np.diff(mine.offsets))
        kind = np.uint8 if mine.counts.max(initial=0) < 256 else np.uint16
        self._dense = np.zeros((len(used), len(mine)), kind)
        self._dense[self._row_of[mine.bins], owner] = mine.counts
        self._sizes = np.bincount(owner, mine.counts, len(mine)).astype(np.float64)

    def add_to(self, total: Tensor, index: Tensor) -> None:
        """Add the weighted similarities of the molecules `index` `(n,)` to `total` `(n, q)` float64, contiguous."""
        counts = self._counts
        given = counts.offsets, counts.bins, counts.counts, index.numpy()
        add_tanimoto(self._dense, self._row_of, self._sizes, *given, self._weight, total.numpy())


@compile_loop
def add_tanimoto(
    dense: NDArray[np.unsignedinteger],
    row_of: NDArray[np.int64],
    sizes: NDArray[np.float64],
    offsets: NDArray[np.int64],
    bins: NDArray[np.uint16],
    counts: NDArray[np.uint16],
    index: NDArray[np.int64],
    weight: float,
    total: NDArray[np.float64],
) -> None:
    """Compare n molecules with q others, and add the similarities, times a weight, to a matrix.

    The innermost loops run over neighbours in memory. What a molecule has in common with others is at most the sum of
    its own counts, which nearly always fits into 16 bits.

    Args:
        dense: `(u, q)`. Counts of the q others in the u bins that some of them have.
        row_of: `(BINS,)`. Row of `dense` of each bin; -1 for a bin that none of them has.
        sizes: `(q,)`. Sums of their counts.
        offsets: as in `Counts`.
        bins: as in `Counts`.
        counts: as in `Counts`.
        index: `(n,)`. Which molecules of these counts to compare.
        weight: of the similarities.
        total: `(n, q)`. What is added to.
    """
    width = dense.shape[1]
    common, long = np.empty(width, np.uint16), np.empty(width, np.uint32)
    for k in range(len(index)):
        begin, end = offsets[index[k]], offsets[index[k] + 1]
        size = 0.0
        for entry in range(begin, end):
            size += counts[entry]
        if size < 65536:
            _add_smaller(dense, row_of, bins[begin:end], counts[begin:end], common)
            _add_ratios(common, size, sizes, weight, total[k])
        else:
            _add_smaller(dense, row_of, bins[begin:end], counts[begin:end], long)
            _add_ratios(long, size, sizes, weight, total[k])


@compile_loop
def _add_smaller(
    dense: NDArray[np.unsignedinteger],
    row_of: NDArray[np.int64],
    bins: NDArray[np.uint16],
    counts: NDArray[np.uint16],
    common: NDArray[np.unsignedinteger],
) -> None:
    """Compute sum_b min(x_b, y_b) of one molecule x and q others: `common` `(q,)`."""
    common[:] = 0
    most = 255 if dense.itemsize == 1 else 65535  # the others have no larger count
    for entry in range(len(bins)):
        if row_of[bins[entry]] >= 0:
            those = dense[row_of[bins[entry]]]
            count = dense.dtype.type(min(counts[entry], most))
            for other in range(len(common)):
                theirs = those[other]
                smaller = theirs if theirs < count else count
                common[other] += smaller


@compile_loop
def _add_ratios(
    common: NDArray[np.unsignedinteger],
    size: float,
    sizes: NDArray[np.float64],
    weight: float,
    total: NDArray[np.float64],
) -> None:
    """Add weight * common / union to `total` `(q,)`."""
    for other in range(len(common)):
        both = 1.0 * common[other]
        union = size + sizes[other] - both
        total[other] += weight * (both / union if union > 0 else 1.0)
