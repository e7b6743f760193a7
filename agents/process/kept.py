"""Keep the columns of a kernel that have been asked for."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from agents.beliefs.posterior import Kernel
from gntk import symmetric_root

ENTRIES = 4_000_000  # of the columns that are kept of a kernel: 32 MB


class KeptColumns:
    """A kernel of M graphs, of which each column is computed when it is first asked for, and kept, while they are few.

    Where the columns asked for would take more than `ENTRIES` numbers, they are computed each time, and not kept.

    Args:
        kernel: the kernel; symmetric.
        count: M.
        whole: compute all columns at once, when the first is asked for.
    """

    def __init__(self, kernel: Kernel, count: int, whole: bool = False) -> None:
        self.kernel, self._every = kernel, torch.arange(count)
        self._whole = whole
        self._place = torch.full((count,), -1, dtype=torch.int64)
        self._columns = torch.zeros(0, count, dtype=torch.float64)

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel between two lists of graphs, `(q, n)`."""
        if not self._compute(rows):
            return self.kernel.columns(rows, index)
        kept = self._columns[self._place[rows]]
        return kept if torch.equal(index, self._every) else kept[:, index]

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of graphs with themselves, `(n,)`."""
        return self._own[index]

    @cached_property
    def _own(self) -> Tensor:
        if self._whole:
            return self.columns(self._every, self._every).diagonal()
        return self.kernel.diagonal(self._every)

    @cached_property
    def root(self) -> Tensor:
        """Return a root of the kernel of all graphs, `(M, M)`: `gntk.symmetric_root`."""
        return symmetric_root(self.columns(self._every, self._every))

    def exchanged(self, kernel: Kernel, kept: Tensor, added: int) -> KeptColumns:
        """Return the kept columns of the graphs that stay, for a kernel of these and of new ones after them.

        Args:
            kernel: the kernel, with the same values between the graphs that stay.
            kept: `(n,)` int64. The graphs that stay, in their order.
            added: number of new ones.
        """
        other = KeptColumns(kernel, len(kept) + added)
        stays = (self._place[kept] >= 0).nonzero().squeeze(1)
        old = self._columns[self._place[kept[stays]]][:, kept]
        new = kernel.columns(torch.arange(len(kept), len(kept) + added), stays).T
        other._columns = torch.cat([old, new], dim=1)
        own = kernel.diagonal(torch.arange(len(kept), len(kept) + added))
        other.__dict__["_own"] = torch.cat([self._own[kept], own])
        other._place[stays] = torch.arange(len(stays))
        return other

    def _compute(self, rows: Tensor) -> bool:
        """Compute what is missing of some columns; return whether all of them are kept."""
        missing = rows[self._place[rows] < 0].unique() if len(rows) else rows
        if not len(missing):
            return True
        if self._whole:
            self._columns, self._place = self.kernel.columns(self._every, self._every), self._every
            return True
        if (len(self._columns) + len(missing)) * len(self._every) > ENTRIES:
            return False
        new = self.kernel.columns(missing, self._every)
        self._place[missing] = torch.arange(len(self._columns), len(self._columns) + len(missing))
        self._columns = torch.cat([self._columns, new])
        return True
