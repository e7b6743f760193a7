"""Compare graphs by numbers that a function computes for each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from torch import Tensor

from agents.descriptors.scales import Moments, Scale
from agents.process.parts.part import AddTo

if TYPE_CHECKING:
    from torch_geometric.data import Batch

Measure: TypeAlias = "Callable[[Batch], NDArray[np.float64]]"
"""A function that returns D numbers for each of K graphs, `(K, D)` float64, with NaN for undefined ones. They depend on
the graph alone."""

WIDE, NARROW = 2.0, 0.7  # of Gaussian kernels: their mixture approximates all widths in between
LINEAR = 0.2  # share of the linear kernel


@dataclass(frozen=True, eq=False)
class Measured:
    """Two Gaussian kernels of the numbers z, in standard deviations from their means, and a linear one.

        exp(-|z - z'|^2 / (2 l^2 D)),   <x, x'> / (|x| |x'|),   x = (1, z / sqrt(D))

    Without the division, graphs far from the mean would be the most uncertain ones, and the first to be played.
    """

    name: str
    """Name of the numbers."""
    values: NDArray[np.floating]
    """`(K, D)`. The numbers of K graphs."""
    scale: Scale
    """Means and standard deviations over the graphs of `reset`, or over a pool that contains them."""
    linear: float = LINEAR
    """Share of the linear kernel. 0 disables it."""
    measure: Measure | None = None
    """Measures new graphs. None: the graphs do not change."""

    @staticmethod
    def of(name: str, measure: Measure, batch: Batch) -> Measured:
        """Measure graphs, and use them for the scale."""
        values = measure(batch)
        return Measured(name, values, Moments.of(values).scale(), measure=measure)

    @property
    def shares(self) -> Sequence[float]:
        """Return the shares of both Gaussian kernels and of the linear one, or none if all numbers are constant."""
        shares = ((1 - self.linear) / 2, (1 - self.linear) / 2, self.linear)
        return shares[: 3 if self.linear else 2] if self.scale.dimension else ()

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernels `(e, q, n)`, computed from the distances."""
        if not self.shares:
            return torch.zeros(0, len(rows), len(index), dtype=torch.float64)
        mine, theirs = (self.scale.points(self.values[some.numpy()]) for some in (rows, index))
        square = torch.from_numpy(cdist(mine, theirs, "sqeuclidean")) / self.scale.dimension
        gaussian = [(square / (-2 * width**2)).exp_() for width in (WIDE, NARROW)]
        if not self.linear:
            return torch.stack(gaussian)
        lengths = [torch.from_numpy(np.square(points).sum(axis=1)) / self.scale.dimension for points in (mine, theirs)]
        first, second = lengths[0].unsqueeze(1), lengths[1]
        return torch.stack([*gaussian, (1 + (first + second - square) / 2) / ((1 + first) * (1 + second)).sqrt()])

    def facing(self, rows: Tensor, weights: Sequence[float]) -> AddTo:
        """Return a function that adds weighted kernels to the graphs `rows` to a sum, by matrix products.

        |z - z'|^2 = <(z, |z|^2, 1), (-2 z', 1, |z'|^2)>
        """
        mine = self._points(rows)
        ones, squares = torch.ones(len(mine), 1, dtype=mine.dtype), mine.square().sum(1, keepdim=True)
        factors, directions = torch.cat([-2 * mine, ones, squares], 1).T, _directions(mine).T
        scales = [-1 / (2 * width**2 * max(1, self.scale.dimension)) for width in (WIDE, NARROW)]

        def add_to(total: Tensor, index: Tensor) -> None:
            theirs = self._points(index)
            ones, squares = torch.ones(len(theirs), 1, dtype=theirs.dtype), theirs.square().sum(1, keepdim=True)
            distances = (torch.cat([theirs, squares, ones], 1) @ factors).clamp_(min=0)
            similarity = torch.empty_like(distances)
            for scale, weight in zip(scales, weights, strict=False):
                total.add_(torch.mul(distances, scale, out=similarity).exp_(), alpha=weight)
            if self.linear:
                total.addmm_(_directions(theirs), directions, alpha=weights[-1])

        return add_to

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones, `(e, n)`."""
        return torch.ones(len(self.shares), len(index), dtype=torch.float64)

    def exchange(self, kept: Tensor, graphs: Batch | None) -> Measured:
        """Return the numbers of the remaining graphs, followed by new ones, on the same scale."""
        old = self.values[kept.numpy()]
        new = old[:0] if graphs is None or self.measure is None else self.measure(graphs)
        return replace(self, values=np.concatenate([old, new]))

    def known(self) -> Sequence[Tensor]:
        """Return numbers and scale. Unknown numbers are 0 in one tensor and flagged in another."""
        tensors = map(torch.from_numpy, (np.nan_to_num(self.values), self.scale.mean, self.scale.spread))
        return [*tensors, torch.from_numpy(np.isnan(self.values))]

    def _points(self, index: Tensor) -> Tensor:
        """Return z of graphs, `(n, D')` float64."""
        return torch.from_numpy(self.scale.points(self.values[index.numpy()]))


def _directions(points: Tensor) -> Tensor:
    """Return x / |x| of points, `(n, D + 1)`."""
    scaled = points / max(1, points.shape[1]) ** 0.5
    return torch.nn.functional.normalize(torch.nn.functional.pad(scaled, (1, 0), value=1.0))
