"""Compare graphs by functions that are linear in a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from scipy.spatial.distance import cdist
from torch import Tensor

from agents.beliefs.flat_features import FlatFeatures

if TYPE_CHECKING:
    from torch_geometric.data import Batch

FLAT = 100.0  # prior variance of the constant, in units of that of a weight


@dataclass(frozen=True, eq=False)
class LinearFunctions:
    """The kernel of functions that are linear in features z, as in Bayesian linear regression.

    k(G, G') = <z, z'> + c      [Rasmussen & Williams 2006, Sec. 2.1]
    """

    features: FlatFeatures
    """z, `(K, d)`."""
    constant: float = FLAT
    """c, prior variance of the constant: `FLAT`, or 0 for none."""
    name: str = "mean nodes and sizes"
    """Name of the compared features."""
    shares: Sequence[float] = (1.0,)
    """Share of the only kernel."""

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel between two lists of graphs, `(1, q, n)`."""
        z = self.features.rows
        between = torch.from_numpy(cdist(z[rows].numpy(), z[index].numpy(), "sqeuclidean"))
        squares = self._squares
        products = (squares[rows].unsqueeze(1) + squares[index] - between) / 2  # bits independent of the other graphs
        return (products + self.constant).unsqueeze(0)

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of graphs with themselves, `(1, n)`."""
        return (self._squares[index] + self.constant).unsqueeze(0)

    @property
    def numbers(self) -> Tensor:
        """Return phi `(K, d + 1)` with k(G, G') = <phi, phi'>."""
        z = self.features.rows
        return torch.cat([z, z.new_full((len(z), 1), self.constant**0.5)], dim=1)

    def exchange(self, kept: Tensor, graphs: Batch | None) -> LinearFunctions:
        """Return the features of the remaining graphs, followed by new ones."""
        return replace(self, features=self.features.exchange(kept, graphs))

    def known(self) -> Sequence[Tensor]:
        """Return the features."""
        return [self.features.rows]

    @cached_property
    def _squares(self) -> Tensor:
        return self.features.rows.square().sum(1)
