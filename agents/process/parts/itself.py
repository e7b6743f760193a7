"""The part of a graph's reward that no other graph tells of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from torch_geometric.data import Batch


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
