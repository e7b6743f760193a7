"""Kernels on numbers that describe each molecule, as parts of the kernel."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata
from torch import Tensor

LARGEST = 5.0  # standard deviations; a number farther from the mean counts as that far


class GaussianKernel:
    """Gaussian kernel of a given width.

        k(G, G') = exp(-|z - z'|^2 / (2 l^2 D))

    Args:
        points: z, `(K, D)` float64, from `standardise`. The mean of |z - z'|^2 over pairs is then 2 D.
        width: l.
    """

    def __init__(self, points: Tensor, width: float) -> None:
        self._points, self._factor = points, -1 / (2 * width**2 * max(1, points.shape[1]))

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return similarities `(q, n)`."""
        mine, theirs = self._points[rows], self._points[index]
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
        points: z, `(K, D)` float64, from `standardise`.
    """

    def __init__(self, points: Tensor) -> None:
        scaled = torch.nn.functional.pad(points / max(1, points.shape[1]) ** 0.5, (1, 0), value=1.0)
        self._points = torch.nn.functional.normalize(scaled)

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return cosines `(q, n)`."""
        return self._points[rows] @ self._points[index].T

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones."""
        return torch.ones(len(index), dtype=torch.float64)


def standardise(values: NDArray[np.float64]) -> Tensor:
    """Shift and scale each number to mean 0 and standard deviation 1 over the set.

    A number that is not known becomes the mean of the others, and one far from the mean is moved to `LARGEST`. Numbers
    that all molecules share are left out.

    Args:
        values: `(K, D)`, NaN where a number is not known.

    Returns:
        `(K, D')` float64, D' <= D.
    """
    known = np.isfinite(values)
    count = np.maximum(known.sum(0), 1)
    centred = np.where(known, values - np.where(known, values, 0).sum(0) / count, 0)
    spread = np.sqrt((centred**2).sum(0) / count)
    differ = spread > 1e-9 * np.abs(np.where(known, values, 0)).max(0, initial=0)
    return torch.from_numpy(np.clip(centred[:, differ] / spread[differ], -LARGEST, LARGEST))


def by_rank(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace the i-th smallest of n numbers by a normal score, so that no unit and no outlier matters.

        z_i = Phi^{-1}((i - 1/2) / n)      [Blom 1958]

    A column may hold 9999 for a docking that failed. Among standard deviations it would hide all other differences.

    Args:
        values: `(K, D)`, NaN where a number is not known.

    Returns:
        `(K, D)`, NaN where a number is not known; equal numbers share the mean of their ranks.
    """
    known = np.isfinite(values)
    scores = np.full(values.shape, np.nan)
    for column, (numbers, place) in enumerate(zip(values.T, known.T, strict=True)):
        scores[place, column] = ndtri((rankdata(numbers[place]) - 0.5) / max(1, place.sum()))
    return scores
