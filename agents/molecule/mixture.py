"""The sum of the parts of the kernel on molecules, whose columns are computed where they are needed, and fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from agents.beliefs.posterior import Kernel
from agents.molecule.numbers import FacingPoints, GaussianKernel, LinearKernel, Points

ENTRIES_AT_A_TIME, LEAST_AT_A_TIME = 1 << 17, 16  # of the matrix of sums: a megabyte; and its least number of rows


class Facing(Protocol):
    """Weighted kernels to q graphs, to be added to a sum."""

    def add_to(self, total: Tensor, index: Tensor) -> None:
        """Add those of the graphs `index` `(n,)` to `total` `(n, q)` float64, a block of contiguous memory."""


@runtime_checkable
class FastKernel(Kernel, Protocol):
    """A kernel that adds its columns to a sum faster than it returns them."""

    def facing(self, rows: Tensor, weight: float) -> Facing:
        """Return what adds the kernel to the graphs `rows` `(q,)`, times a weight, to a sum."""


class Mixture:
    """The kernel sum_p w_p k_p.

    Args:
        kernels: k_1, ..., k_P.
        weights: w, P numbers >= 0.
    """

    def __init__(self, kernels: Sequence[Kernel], weights: Sequence[float]) -> None:
        self.kernels, self.weights = tuple(kernels), tuple(weights)
        terms = groupby(zip(self.kernels, self.weights, strict=True), lambda term: _points_of(term[0]))
        self._terms = [(points is not None, list(group)) for points, group in terms]
        self._faced: tuple[Tensor, list[Facing]] | None = None

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the weighted sum of the columns of the kernels, `(q, n)`.

        All kernels are added to a few of the graphs `index` before the next, so that the sums stay in the cache.
        """
        total = torch.zeros(len(index), len(rows), dtype=torch.float64)
        facing, few = self._facing(rows), max(LEAST_AT_A_TIME, ENTRIES_AT_A_TIME // max(1, len(rows)))
        for some, sums in zip(index.split(few), total.split(few), strict=True):
            for summand in facing:
                summand.add_to(sums, some)
        return total.T

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the weighted sum of the diagonals, `(n,)`."""
        diagonals = (weight * k.diagonal(index) for k, weight in zip(self.kernels, self.weights, strict=True))
        return torch.stack(list(diagonals)).sum(0)

    def _facing(self, rows: Tensor) -> list[Facing]:
        """Return what adds up to the columns of these rows; kernels of the same numbers share their distances.

        A posterior asks again and again about the columns of the same rows, so the last answer is kept.
        """
        if self._faced is not None and self._faced[0] is rows:
            return self._faced[1]
        facing: list[Facing] = []
        for on_points, terms in self._terms:
            if on_points:
                numbers = [(k, weight) for k, weight in terms if isinstance(k, (GaussianKernel, LinearKernel))]
                facing.append(FacingPoints(numbers, rows))
            else:
                facing.extend(_face(kernel, rows, weight) for kernel, weight in terms)
        self._faced = rows, facing
        return facing


@dataclass(frozen=True, eq=False)
class FacingAny:
    """Any kernel to some graphs, times a weight."""

    kernel: Kernel
    """The kernel."""
    rows: Tensor
    """`(q,)` int64. The graphs."""
    weight: float
    """Its weight."""

    def add_to(self, total: Tensor, index: Tensor) -> None:
        """Add it for the graphs `index`."""
        total.add_(self.kernel.columns(self.rows, index).T, alpha=self.weight)


def _points_of(kernel: Kernel) -> Points | None:
    return kernel.points if isinstance(kernel, (GaussianKernel, LinearKernel)) else None


def _face(kernel: Kernel, rows: Tensor, weight: float) -> Facing:
    return kernel.facing(rows, weight) if isinstance(kernel, FastKernel) else FacingAny(kernel, rows, weight)
