"""Compare graphs by numbers that a function measures of each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Batch

from agents.beliefs.posterior import Kernel
from agents.molecule.traits.scales import Moments, Scale
from agents.process.parts.numbers import GaussianKernel, LinearKernel, Points

Measure = Callable[[Batch], NDArray[np.float64]]
"""A function that returns D numbers of each of K graphs, `(K, D)` float64, NaN where one cannot be told. They depend on
the graph alone."""

WIDE, NARROW = 2.0, 0.7  # of Gaussian kernels: the mixture of both stands for all widths between
LINEAR = 0.2  # share of the linear kernel


@dataclass(frozen=True, eq=False)
class Measured:
    """Two Gaussian kernels of the numbers, and a linear one."""

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

    def kernels(self) -> Sequence[tuple[float, Kernel]]:
        """Return the kernels; none if no number differs between graphs."""
        points = Points(self.values, self.scale, keep=True)
        if not points.dimension:
            return []
        share = (1 - LINEAR) / 2
        gaussians = [(share, GaussianKernel(points, width)) for width in (WIDE, NARROW)]
        return [*gaussians, (LINEAR, LinearKernel(points))]

    def exchange(self, kept: Tensor, graphs: Batch | None) -> Measured:
        """Return the numbers of the graphs that stay, and of new ones, on the same scale."""
        old = self.values[kept.numpy()]
        return replace(self, values=old if graphs is None else np.concatenate([old, self.measure(graphs)]))

    def known(self) -> Sequence[Tensor]:
        """Return numbers and scale; a number that is not known is 0 in one tensor, and marked in another."""
        tensors = map(torch.from_numpy, (np.nan_to_num(self.values), self.scale.mean, self.scale.spread))
        return [*tensors, torch.from_numpy(np.isnan(self.values))]
