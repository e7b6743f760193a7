"""A joint Gaussian process on rewards and on the values of graphs in several sources, with their correlations."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from agents.beliefs.posterior import Kernel

PRIOR_SOURCE_NOISE = 1e-1  # median of the prior of a source's noise variance
PRIOR_RESIDUAL = 1e-1  # median of the prior of u


@dataclass(frozen=True)
class Links:
    """Learned correlations, noises and slopes of S sources.

        cov(f_a(x), f_b(x')) = s_a s_b B_ab (k(x, x') + u 1[x = x']),   B = r r^T + diag(1 - r^2),   r_0 = s_0 = 1

    f_0 is the mean reward, and f_a the value in the a-th source: intrinsic coregionalisation of rank one [Bonilla et
    al. 2007]. k is the structural part. A small s prevents results unrelated to structure from implying the same for
    rewards. u is the part shared by rewards and sources that k does not explain: without u, a graph's own result in a
    source would be no more informative than those of similar graphs.
    """

    correlations: tuple[float, ...]
    """r of each source, the correlation of its values with the rewards, from -1 to 1."""
    noises: tuple[float, ...]
    """Noise variance of a result of each source, in squared units of its targets."""
    slopes: tuple[float, ...]
    """s of each source: standard deviation of its values, without noise, relative to that of the rewards."""
    residual: float
    """u."""
    errors: tuple[float, ...] = ()
    """Standard deviation of atanh r of each source, by the curvature of the likelihood."""

    @staticmethod
    def unknown(count: int) -> Links:
        """Return the prior links to some sources."""
        return Links((0.0,) * count, (PRIOR_SOURCE_NOISE,) * count, (1.0,) * count, PRIOR_RESIDUAL)

    def between(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return s s^T o B between two lists of quantities, `(q,)` and `(n,)` int64, 0 for the reward: `(q, n)`."""
        along = torch.tensor([1.0, *self.correlations], dtype=torch.float64)
        scale = torch.tensor([1.0, *self.slopes], dtype=torch.float64)
        shared = torch.outer(along[rows], along[columns]).where(rows.unsqueeze(1) != columns, 1.0)
        return shared * torch.outer(scale[rows], scale[columns])


class LinkedKernel:
    """The kernel between values of N graphs in all quantities. Number a N + i is graph i in quantity a.

    Args:
        kernel: k, of the N graphs.
        count: N.
        links: learned links of the sources.
    """

    def __init__(self, kernel: Kernel, count: int, links: Links) -> None:
        self._kernel, self._count, self._links = kernel, count, links
        self._rows: tuple[Tensor, Tensor] | None = None

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel between two lists of values, `(q, n)` float64."""
        graphs, others = self._graphs_of(rows), index % self._count
        columns = self._kernel.columns(graphs, others)
        if self._links.residual:
            columns[graphs.unsqueeze(1) == others] += self._links.residual
        quantities, of_columns = rows // self._count, index // self._count
        distinct = of_columns.unique()  # one if all are rewards, with one factor for each row
        return columns.mul_(self._links.between(quantities, distinct if len(distinct) == 1 else of_columns))

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of values with themselves, `(n,)` float64."""
        scale = torch.tensor([1.0, *self._links.slopes], dtype=torch.float64)[index // self._count]
        return (self._kernel.diagonal(index % self._count) + self._links.residual) * scale.square()

    def _graphs_of(self, rows: Tensor) -> Tensor:
        """Return the graphs of rows, as the same tensor for the same rows, so that kernels can reuse their cache."""
        if self._rows is None or self._rows[0] is not rows:
            self._rows = rows, rows % self._count
        return self._rows[1]
