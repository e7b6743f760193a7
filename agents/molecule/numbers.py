"""Kernels on numbers that describe each molecule, as parts of the kernel."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.molecule.traits import Moments, Scale


class Points:
    """Numbers of molecules in standard deviations from their means; computed of those that are asked about.

    Args:
        values: `(K, D)`, NaN where a number is not known.
        scale: means and standard deviations; None: those of these molecules.
    """

    def __init__(self, values: NDArray[np.floating], scale: Scale | None = None) -> None:
        self._values, self._scale = values, scale or Moments.of(values).scale()
        self.dimension = self._scale.dimension
        """D', how many numbers differ between molecules."""

    def of(self, index: Tensor) -> Tensor:
        """Return z of the molecules `index` `(n,)`: `(n, D')` float64."""
        return torch.from_numpy(self._scale.points(self._values[index.numpy()]))


class GaussianKernel:
    """Gaussian kernel of a given width.

        k(G, G') = exp(-|z - z'|^2 / (2 l^2 D))

    Args:
        points: z of each molecule. The mean of |z - z'|^2 over pairs is 2 D.
        width: l.
    """

    def __init__(self, points: Points, width: float) -> None:
        self._points, self._factor = points, -1 / (2 * width**2 * max(1, points.dimension))

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return similarities `(q, n)`."""
        mine, theirs = self._points.of(rows), self._points.of(index)
        squares = mine.square().sum(1, keepdim=True) + theirs.square().sum(1) - 2 * (mine @ theirs.T)
        similarity: Tensor = squares.clamp_(min=0).mul_(self._factor).exp_()
        return similarity

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones."""
        return torch.ones(len(index), dtype=torch.float64)


class LinearKernel:
    """Kernel of functions that are linear in the numbers, divided by the standard deviation that they would have.

        k(G, G') = <x, x'> / (|x| |x'|),   x = (1, z / sqrt(D))

    Without the division molecules far from the mean would be the most uncertain ones, and the first to be played.

    Args:
        points: z of each molecule.
    """

    def __init__(self, points: Points) -> None:
        self._points = points

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return cosines `(q, n)`."""
        return self._directions(rows) @ self._directions(index).T

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones."""
        return torch.ones(len(index), dtype=torch.float64)

    def _directions(self, index: Tensor) -> Tensor:
        scaled = self._points.of(index) / max(1, self._points.dimension) ** 0.5
        return torch.nn.functional.normalize(torch.nn.functional.pad(scaled, (1, 0), value=1.0))
