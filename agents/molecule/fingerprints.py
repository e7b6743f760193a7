"""Compare molecules by the Tanimoto similarity of a fingerprint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.descriptors import BINS, Counts
from agents.process.parts.part import AddTo
from gntk.engines import compile_loop


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """Tanimoto similarity of counts.

        T(x, y) = sum_b min(x_b, y_b) / sum_b max(x_b, y_b)      [a kernel: Gower 1971; Ralaivola et al. 2005]

    It is 1 if both molecules have equal counts, including two molecules without any feature.
    """

    name: str
    """Name of the compared features."""
    counts: Counts
    """Counts of the features of each molecule."""
    shares: Sequence[float] = (1.0,)
    """Share of the only kernel."""

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return similarities `(1, q, n)`."""
        total = torch.zeros(len(index), len(rows), dtype=torch.float64)
        self.facing(rows, self.shares)(total, index)
        return total.T.unsqueeze(0)

    def facing(self, rows: Tensor, weights: Sequence[float]) -> AddTo:
        """Return a function that adds weighted similarities to these molecules to a sum.

        Their counts become a dense matrix of the occupied bins, stored as bytes if all counts are small. 2,000
        molecules occupy about 3,000 bins.
        """
        mine, counts = self.counts.take(rows.numpy()), self.counts
        used = np.flatnonzero(np.bincount(mine.bins, minlength=BINS))
        row_of = np.full(BINS, -1, np.int64)
        row_of[used] = np.arange(len(used))
        owner = np.repeat(np.arange(len(mine)), np.diff(mine.offsets))
        dense = np.zeros((len(used), len(mine)), np.uint8 if mine.counts.max(initial=0) < 256 else np.uint16)
        dense[row_of[mine.bins], owner] = mine.counts
        sizes = np.bincount(owner, mine.counts, len(mine)).astype(np.float64)

        def add_to(total: Tensor, index: Tensor) -> None:
            given = counts.offsets, counts.bins, counts.counts, index.numpy()
            add_tanimoto(dense, row_of, sizes, *given, weights[0], total.numpy())

        return add_to

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones, `(1, n)`."""
        return torch.ones(1, len(index), dtype=torch.float64)


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
    """Add the weighted similarities of n molecules and q others to a matrix.

    The innermost loops run over neighbours in memory. The overlap of a molecule with others is at most the sum of its
    own counts, which nearly always fits into 16 bits.

    Args:
        dense: `(u, q)`. Counts of the q others in the u bins that some of them have.
        row_of: `(BINS,)`. Row of `dense` of each bin, -1 for empty bins.
        sizes: `(q,)`. Sums of their counts.
        offsets: as in `Counts`.
        bins: as in `Counts`.
        counts: as in `Counts`.
        index: `(n,)`. Molecules of these counts to compare.
        weight: weight of the similarities.
        total: `(n, q)`. Sum that is updated in place.
    """
    width = dense.shape[1]
    common, long = np.empty(width, np.uint16), np.empty(width, np.uint32)
    for k in range(len(index)):
        begin, end = offsets[index[k]], offsets[index[k] + 1]
        size = 0.0
        for entry in range(begin, end):
            size += counts[entry]
        mine = bins[begin:end], counts[begin:end]
        if size < 65536:
            _add_row(dense, row_of, *mine, common, size, sizes, weight, total[k])
        else:
            _add_row(dense, row_of, *mine, long, size, sizes, weight, total[k])


@compile_loop
def _add_row(
    dense: NDArray[np.unsignedinteger],
    row_of: NDArray[np.int64],
    bins: NDArray[np.uint16],
    counts: NDArray[np.uint16],
    common: NDArray[np.unsignedinteger],
    size: float,
    sizes: NDArray[np.float64],
    weight: float,
    total: NDArray[np.float64],
) -> None:
    """Compare one molecule x with q others: compute `common`, sum_b min(x_b, y_b), and add weight * common / union."""
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
    for other in range(len(common)):
        both = 1.0 * common[other]
        union = size + sizes[other] - both
        total[other] += weight * (both / union if union > 0 else 1.0)
