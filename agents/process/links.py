"""One Gaussian process on rewards and on the values of graphs in several sources, and how these go along with them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from agents.beliefs.posterior import Kernel

PRIOR_SOURCE_NOISE = 1e-1  # median of the prior of a source's noise variance
PRIOR_RESIDUAL = 1e-1  # median of the prior of u


@dataclass(frozen=True)
class Links:
    """Correlations, noises and slopes of S sources, as the results teach them.

        cov(f_a(x), f_b(x')) = s_a s_b B_ab (k(x, x') + u 1[x = x']),   B = r r^T + diag(1 - r^2),   r_0 = s_0 = 1

    f_0 is the mean reward, and f_a the value in the a-th source: intrinsic coregionalisation of rank one [Bonilla et
    al. 2007]. k is what the structure of graphs tells; a small s keeps results that have nothing to do with structures
    from saying so of rewards. What k does not tell of a graph, but rewards and sources share, is u: without it, a
    graph's own result in a source would tell no more than those of its likes.
    """

    correlations: tuple[float, ...]
    """r of each source, from -1 to 1: how its values go along with the rewards; 0: not at all."""
    noises: tuple[float, ...]
    """Noise variance of a result of each source, in squared units of its targets."""
    slopes: tuple[float, ...]
    """s of each source: standard deviation of its values, without noise, to that of the rewards."""
    residual: float
    """u."""
    errors: tuple[float, ...] = ()
    """Standard deviation of atanh r of each source, by the curvature of the likelihood."""

    @staticmethod
    def unknown(count: int) -> Links:
        """Return the links to some sources before any result."""
        return Links((0.0,) * count, (PRIOR_SOURCE_NOISE,) * count, (1.0,) * count, PRIOR_RESIDUAL)

    def between(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return s s^T o B between two lists of quantities, `(q,)` and `(n,)` int64; 0 is the reward: `(q, n)`."""
        along = torch.tensor([1.0, *self.correlations], dtype=torch.float64)
        scale = torch.tensor([1.0, *self.slopes], dtype=torch.float64)
        shared = torch.outer(along[rows], along[columns]).where(rows.unsqueeze(1) != columns, 1.0)
        return shared * torch.outer(scale[rows], scale[columns])


class LinkedKernel:
    """The kernel between values of N graphs in all quantities; number a N + i stands for graph i in quantity a.

    Args:
        kernel: k, of the N graphs.
        count: N.
        links: what is learnt of the sources.
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
        distinct = of_columns.unique()  # one if all are of rewards: there is one factor for each row
        return columns.mul_(self._links.between(quantities, distinct if len(distinct) == 1 else of_columns))

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of values with themselves, `(n,)` float64."""
        scale = torch.tensor([1.0, *self._links.slopes], dtype=torch.float64)[index // self._count]
        return (self._kernel.diagonal(index % self._count) + self._links.residual) * scale.square()

    def _graphs_of(self, rows: Tensor) -> Tensor:
        """Return the graphs of rows; the same tensor for the same rows, by which kernels know them again."""
        if self._rows is None or self._rows[0] is not rows:
            self._rows = rows, rows % self._count
        return self._rows[1]
