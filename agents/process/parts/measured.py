"""Compare graphs by numbers that a function measures of each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from torch import Tensor

from agents.traits.scales import Moments, Scale

if TYPE_CHECKING:
    from torch_geometric.data import Batch

Measure: TypeAlias = "Callable[[Batch], NDArray[np.float64]]"
"""A function that returns D numbers of each of K graphs, `(K, D)` float64, NaN where one cannot be told. They depend on
the graph alone."""

WIDE, NARROW = 2.0, 0.7  # of Gaussian kernels: the mixture of both stands for all widths between
LINEAR = 0.2  # share of the linear kernel


@dataclass(frozen=True, eq=False)
class Measured:
    """Two Gaussian kernels of the numbers z, in standard deviations from their means, and a linear one.

        exp(-|z - z'|^2 / (2 l^2 D)),   <x, x'> / (|x| |x'|),   x = (1, z / sqrt(D))

    Without the division graphs far from the mean would be the most uncertain ones, and the first to be played.
    """

    name: str
    """What is measured."""
    measure: Measure
    """Measures it."""
    values: NDArray[np.float64]
    """`(K, D)`. The numbers of K graphs."""
    scale: Scale
    """Means and standard deviations over the graphs of `reset`."""

    @staticmethod
    def of(name: str, measure: Measure, batch: Batch) -> Measured:
        """Measure graphs, and take them for the scale."""
        values = measure(batch)
        return Measured(name, measure, values, Moments.of(values).scale())

    @property
    def shares(self) -> Sequence[float]:
        """Return the shares of both Gaussian kernels and of the linear one; none if no number differs."""
        return ((1 - LINEAR) / 2, (1 - LINEAR) / 2, LINEAR) if self.scale.dimension else ()

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernels `(3, q, n)`, all of which follow from the distances."""
        if not self.shares:
            return torch.zeros(0, len(rows), len(index), dtype=torch.float64)
        points, dimension = self._points, self.scale.dimension
        square = torch.from_numpy(cdist(points[rows.numpy()], points[index.numpy()], "sqeuclidean")) / dimension
        mine, theirs = self._squares[rows].unsqueeze(1), self._squares[index]
        linear = (1 + (mine + theirs - square) / 2) / ((1 + mine) * (1 + theirs)).sqrt()
        return torch.stack([*((square / (-2 * width**2)).exp_() for width in (WIDE, NARROW)), linear])

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones, `(3, n)`."""
        return torch.ones(len(self.shares), len(index), dtype=torch.float64)

    def exchange(self, kept: Tensor, graphs: Batch | None) -> Measured:
        """Return the numbers of the graphs that stay, and of new ones, on the same scale."""
        old = self.values[kept.numpy()]
        return replace(self, values=old if graphs is None else np.concatenate([old, self.measure(graphs)]))

    def known(self) -> Sequence[Tensor]:
        """Return numbers and scale; a number that is not known is 0 in one tensor, and marked in another."""
        tensors = map(torch.from_numpy, (np.nan_to_num(self.values), self.scale.mean, self.scale.spread))
        return [*tensors, torch.from_numpy(np.isnan(self.values))]

    @cached_property
    def _points(self) -> NDArray[np.float64]:
        return np.asarray(self.scale.points(self.values), np.float64)

    @cached_property
    def _squares(self) -> Tensor:
        """Return |z|^2 / D of each graph, `(K,)`."""
        return torch.from_numpy(np.square(self._points).sum(axis=1)) / self.scale.dimension
