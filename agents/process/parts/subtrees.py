"""Compare graphs by their subtree patterns, as a part of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch

from agents.beliefs.posterior import Kernel
from agents.kernel.subtrees import (
    Labelling,
    PatternCounts,
    compare_patterns,
    count_patterns,
    typical_square_distance,
)


@dataclass(frozen=True, eq=False)
class Subtrees:
    """A Gaussian of the distance between counts of subtree patterns      [`agents.kernel.subtrees`]."""

    labelling: Labelling
    """How nodes and edges get labels."""
    iterations: int
    """Number of refinements of the labels."""
    directed: bool
    """Whether directions of edges count."""
    counts: PatternCounts
    """The patterns of each graph."""
    square_width: float
    """w^2, the median squared distance of the graphs of `reset`."""

    @staticmethod
    def of(batch: Batch, iterations: int, bins: int, directed: bool = False) -> Subtrees:
        """Choose labels for the nodes of some graphs, and count their patterns."""
        labelling = Labelling.of(batch, bins)
        counts = _count(batch, labelling, iterations, directed)
        return Subtrees(labelling, iterations, directed, counts, typical_square_distance(counts))

    @property
    def name(self) -> str:
        """Return what it compares."""
        return "subtrees"

    def kernels(self) -> Sequence[tuple[float, Kernel]]:
        """Return the kernel."""
        return [(1.0, self)]

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return similarities `(q, n)`, 1 for equal counts."""
        first, second = (self.counts.take(graphs.numpy()) for graphs in (rows, index))
        return compare_patterns(first, second, self.square_width)

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones."""
        return torch.ones(len(index), dtype=torch.float64)

    def exchange(self, kept: Tensor, graphs: Batch | None) -> Subtrees:
        """Return the patterns of the graphs that stay, and of new ones."""
        counts = self.counts.take(kept.numpy())
        if graphs is not None:
            counts = counts.join(_count(graphs, self.labelling, self.iterations, self.directed))
        return replace(self, counts=counts)

    def known(self) -> Sequence[Tensor]:
        """Return the patterns and their counts."""
        arrays = self.counts.patterns.view(np.int64), self.counts.counts, self.counts.offsets
        return [*map(torch.from_numpy, arrays), torch.tensor(self.square_width, dtype=torch.float64)]


def _count(batch: Batch, labelling: Labelling, iterations: int, directed: bool) -> PatternCounts:
    return count_patterns(batch, labelling.of_nodes(batch), labelling.of_edges(batch), iterations, directed)
