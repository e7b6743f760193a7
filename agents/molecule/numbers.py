"""Kernels on numbers that describe each molecule, as parts of the kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from torch import Tensor

from agents.traits.scales import Moments, Scale


class Points:
    """Numbers of graphs in standard deviations from their means; computed of those that are asked about.

    Args:
        values: `(K, D)`, NaN where a number is not known.
        scale: means and standard deviations; None: those of these graphs.
    """

    def __init__(self, values: NDArray[np.floating], scale: Scale | None = None) -> None:
        self._values, self._scale = values, scale or Moments.of(values).scale()
        self.dimension = self._scale.dimension
        """D', how many numbers differ between graphs."""

    def of(self, index: Tensor) -> Tensor:
        """Return z of the graphs `index` `(n,)`: `(n, D')` float64."""
        return torch.from_numpy(self._scale.points(self._values[index.numpy()]))


class GaussianKernel:
    """Gaussian kernel of a given width.

        k(G, G') = exp(-|z - z'|^2 / (2 l^2 D))

    Args:
        points: z of each graph. The mean of |z - z'|^2 over pairs is 2 D.
        width: l.
    """

    def __init__(self, points: Points, width: float) -> None:
        self.points, self.factor = points, -1 / (2 * width**2 * max(1, points.dimension))

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return similarities `(q, n)`; each depends on its two graphs alone, to the last bit."""
        return _square_distances(self.points.of(rows), self.points.of(index)).mul_(self.factor).exp_()

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones."""
        return torch.ones(len(index), dtype=torch.float64)


class LinearKernel:
    """Kernel of functions that are linear in the numbers, divided by the standard deviation that they would have.

        k(G, G') = <x, x'> / (|x| |x'|),   x = (1, z / sqrt(D))

    Without the division graphs far from the mean would be the most uncertain ones, and the first to be played.

    Args:
        points: z of each graph.
    """

    def __init__(self, points: Points) -> None:
        self.points = points

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return cosines `(q, n)`, 1 - |u - u'|^2 / 2 of unit vectors; each depends on its two graphs alone."""
        units = _directions(self.points.of(rows)), _directions(self.points.of(index))
        return 1 - _square_distances(*units) / 2

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones."""
        return torch.ones(len(index), dtype=torch.float64)


class FacingPoints:
    """Weighted sum of kernels of the same points to some graphs, to be added to those of other kernels.

    Distances are computed once for all Gaussian kernels, by a product of matrices:

        |z - z'|^2 = <(z, |z|^2, 1), (-2 z', 1, |z'|^2)>

    Args:
        terms: kernels of the same points, and their weights.
        rows: `(q,)` int64. The graphs.
    """

    def __init__(self, terms: Sequence[tuple[GaussianKernel | LinearKernel, float]], rows: Tensor) -> None:
        self._points = terms[0][0].points
        self._gaussians = [(kernel.factor, weight) for kernel, weight in terms if isinstance(kernel, GaussianKernel)]
        self._linear = sum(weight for kernel, weight in terms if isinstance(kernel, LinearKernel))
        mine = self._points.of(rows)
        ones, squares = torch.ones(len(mine), 1, dtype=mine.dtype), mine.square().sum(1, keepdim=True)
        self._mine, self._directions = torch.cat([-2 * mine, ones, squares], 1), _directions(mine)

    def add_to(self, total: Tensor, index: Tensor) -> None:
        """Add the weighted sum for the graphs `index` `(n,)` to `total` `(n, q)` float64."""
        theirs = self._points.of(index)
        if self._gaussians:
            ones, squares = torch.ones(len(theirs), 1, dtype=theirs.dtype), theirs.square().sum(1, keepdim=True)
            distances = (torch.cat([theirs, squares, ones], 1) @ self._mine.T).clamp_(min=0)
            similarity = torch.empty_like(distances)
            for factor, weight in self._gaussians:
                total.add_(torch.mul(distances, factor, out=similarity).exp_(), alpha=weight)
        if self._linear:
            total.addmm_(_directions(theirs), self._directions.T, alpha=self._linear)


def _directions(points: Tensor) -> Tensor:
    """Return x / |x| of points, `(n, D + 1)`."""
    scaled = points / max(1, points.shape[1]) ** 0.5
    return torch.nn.functional.normalize(torch.nn.functional.pad(scaled, (1, 0), value=1.0))


def _square_distances(rows: Tensor, others: Tensor) -> Tensor:
    """Return |z - z'|^2 of q points and n others, `(q, n)` float64."""
    return torch.from_numpy(cdist(rows.numpy(), others.numpy(), "sqeuclidean"))
