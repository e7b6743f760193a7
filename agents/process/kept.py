"""Keep the columns of kernels that have been asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from agents.process.parts.part import Reading
from gntk import symmetric_root

ENTRIES = 50_000_000  # of the columns that are kept of all kernels: 400 MB
WHOLE = 500  # graphs of which the kernels are computed as a whole


class KeptColumns:
    """P kernels of M graphs, of which each column is computed when it is first asked for, and kept, while they are few.

    Where the columns asked for would take more than `ENTRIES` numbers, they are computed each time, and not kept. Of
    at most `WHOLE` graphs all columns are computed at once.

    Args:
        readings: what is read of the graphs; their kernels one after the other, e in all.
        count: M.
        wanted: which of the e kernels; None: all.
    """

    def __init__(self, readings: Sequence[Reading], count: int, wanted: Sequence[int] | None = None) -> None:
        self.readings, self.count = readings, count
        sizes = [len(reading.shares) for reading in readings]
        self.wanted = list(range(sum(sizes))) if wanted is None else list(wanted)
        self._sources, begin = list[tuple[Reading, list[int]]](), 0
        for reading, size in zip(readings, sizes, strict=True):
            own = [k - begin for k in self.wanted if begin <= k < begin + size]
            self._sources += [(reading, own)] if own else []
            begin += size
        self._every = torch.arange(count)
        self._place = torch.full((count,), -1, dtype=torch.int64)
        self._used, self._kept = 0, torch.zeros(0, len(self.wanted), count, dtype=torch.float64)

    def only(self, wanted: Sequence[int]) -> KeptColumns:
        """Return some of its kernels, by their positions among all of the readings, with what is kept of them."""
        some = KeptColumns(self.readings, self.count, wanted)
        some._place, some._used = self._place.clone(), self._used
        some._kept = self._kept[:, [self.wanted.index(k) for k in wanted]]
        return some

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernels between two lists of graphs, `(q, P, n)`."""
        if not self._keep(rows):
            return self._compute(rows, index)
        kept = self._kept[self._place[rows]]
        return kept if self._is_every(index) else kept[:, :, index]

    def column_of(self, kernel: int, rows: Tensor, index: Tensor) -> Tensor:
        """Return one of the P kernels between two lists of graphs, `(q, n)`."""
        if not self._keep(rows):
            return self._compute(rows, index)[:, kernel]
        places = self._place[rows]
        return self._kept[places, kernel] if self._is_every(index) else self._kept[places.unsqueeze(1), kernel, index]

    @cached_property
    def diagonals(self) -> Tensor:
        """Return the kernels of graphs with themselves, `(P, M)`."""
        if self._used == self.count:
            return self._kept[self._place, :, self._every].T
        return torch.cat([reading.diagonal(self._every)[own] for reading, own in self._sources])

    def exchanged(self, readings: Sequence[Reading], kept: Tensor, added: int) -> KeptColumns:
        """Return the kernels of the graphs that stay and of new ones after them, with the columns of those that stay.

        Args:
            readings: of these graphs, with the same values between those that stay.
            kept: `(n,)` int64. The graphs that stay, in their order.
            added: number of new ones.
        """
        other, new = KeptColumns(readings, len(kept) + added, self.wanted), torch.arange(len(kept), len(kept) + added)
        stays = (self._place[kept] >= 0).nonzero().squeeze(1)
        old = self._kept[self._place[kept[stays]]][:, :, kept]
        other._kept = torch.cat([old, other._compute(new, stays).permute(2, 1, 0)], dim=2)
        other._place[stays], other._used = torch.arange(len(stays)), len(stays)
        own = torch.cat([reading.diagonal(new)[places] for reading, places in other._sources])
        other.__dict__["diagonals"] = torch.cat([self.diagonals[:, kept], own], dim=1)
        return other

    def _is_every(self, index: Tensor) -> bool:
        return len(index) == self.count and (index is self._every or torch.equal(index, self._every))

    def _compute(self, rows: Tensor, index: Tensor) -> Tensor:
        return torch.cat([reading.columns(rows, index)[own] for reading, own in self._sources]).transpose(0, 1)

    def _keep(self, rows: Tensor) -> bool:
        """Compute what is missing of some columns; return whether all of them are kept."""
        if self._used == self.count:
            return True
        missing = rows[self._place[rows] < 0].unique()
        if not len(missing):
            return True
        if self._used == 0 and self.count <= WHOLE:
            missing = self._every
        used = self._used + len(missing)
        if used * len(self.wanted) * self.count > ENTRIES:
            return False
        if used > len(self._kept):  # twice as many, so that the next ones need not be moved
            most = ENTRIES // (len(self.wanted) * self.count)
            room = min(self.count, most, max(used, 2 * len(self._kept)))
            moved = self._kept.new_empty(room, *self._kept.shape[1:])
            moved[: self._used] = self._kept[: self._used]
            self._kept = moved
        self._kept[self._used : used] = self._compute(missing, self._every)
        self._place[missing] = torch.arange(self._used, used)
        self._used = used
        return True


class KeptKernel:
    """One of the kernels of which columns are kept.

    Args:
        kept: the columns.
        position: which of its kernels.
    """

    def __init__(self, kept: KeptColumns, position: int) -> None:
        self._kept, self._position = kept, position

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel between two lists of graphs, `(q, n)`."""
        return self._kept.column_of(self._position, rows, index)

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of graphs with themselves, `(n,)`."""
        return self._kept.diagonals[self._position, index]


class KeptMixture:
    """The sum of all kernels of which columns are kept.

    Args:
        kept: the columns.
        weights: P numbers >= 0.
    """

    def __init__(self, kept: KeptColumns, weights: Sequence[float]) -> None:
        self.kept, self.weights = kept, torch.tensor(weights, dtype=torch.float64)

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the weighted sum of the kernels between two lists of graphs, `(q, n)`."""
        return torch.matmul(self.weights, self.kept.columns(rows, index))

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the weighted sum of the kernels of graphs with themselves, `(n,)`."""
        return self._diagonal[index]

    @cached_property
    def root(self) -> Tensor:
        """Return a root of the kernel of all graphs, `(M, M)`: `gntk.symmetric_root`."""
        every = torch.arange(self.kept.count)
        return symmetric_root(self.columns(every, every))

    @cached_property
    def _diagonal(self) -> Tensor:
        return self.weights @ self.kept.diagonals
