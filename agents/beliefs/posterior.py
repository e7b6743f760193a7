"""The posterior of a Gaussian process in dual form: exact, and cheap where few graphs of many were played."""

from __future__ import annotations

import copy
from typing import Protocol

import torch
from torch import Tensor

from agents.beliefs.rewards.likelihood import Hyperparameters

BLOCK = 4096  # graphs with covariances to those played in memory at a time


class Kernel(Protocol):
    """A positive semi-definite function of two graphs, given by their indices in a set."""

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel between two lists of graphs.

        Args:
            rows: `(q,)` int64. Graphs of the rows.
            index: `(n,)` int64. Graphs of the columns.

        Returns:
            `(q, n)` float64.
        """

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of each of the graphs `index` `(n,)` with itself, `(n,)` float64."""


class DualPosterior:
    """Condition N(0, s k) on the mean rewards of q graphs: O(q^3) once, and O(q^2) for each graph that is asked about.

        L L^T = s k(seen, seen) + n diag(1 / counts),   E = L^{-1} s k(seen, .)
        m = E^T L^{-1} y,   C = s k - E^T E      [Rasmussen & Williams 2006, Alg. 2.1]

    Attributes:
        factor: L, `(q, q)` float64.

    Args:
        kernel: kernel of the set.
        hyperparameters: s and the noise variance n, in squared units of the targets.
        seen: `(q,)` int64. Graphs played, each listed once; or once for every result with a noise of its own.
        counts: `(q,)`. Number of rewards of each, or the sum of their weights; n / n_i for a result with noise n_i.
        targets: `(q,)` float64. Mean target of each.

    Raises:
        LinAlgError: if kernel and noise are not positive definite in float64 on the graphs played.
    """

    def __init__(
        self, kernel: Kernel, hyperparameters: Hyperparameters, seen: Tensor, counts: Tensor, targets: Tensor
    ) -> None:
        self.kernel, self.hyperparameters = kernel, hyperparameters
        self.seen, self.counts, self.targets = seen, counts, targets
        inner = hyperparameters.scale * kernel.columns(seen, seen)
        inner = (inner + inner.T) / 2
        rounding = torch.finfo(inner.dtype).eps * inner.trace()  # error of a kernel's eigenvalues, which may be 0
        inner.diagonal().add_(hyperparameters.noise / counts.double() + rounding)
        self.factor = torch.linalg.cholesky(inner)
        self._whitened = torch.linalg.solve_triangular(self.factor, targets.unsqueeze(1), upper=False).squeeze(1)

    def within(self, kernel: Kernel, seen: Tensor) -> DualPosterior:
        """Return this posterior for another set of graphs, which holds those played.

        Args:
            kernel: kernel of that set, with the same values between the graphs played.
            seen: `(q,)` int64. Where the graphs played stand in it.
        """
        moved = copy.copy(self)
        moved.kernel, moved.seen = kernel, seen
        return moved

    def explained(self, index: Tensor) -> Tensor:
        """Return E of the graphs `index` `(n,)`: `(q, n)` float64."""
        cross = self.hyperparameters.scale * self.kernel.columns(self.seen, index)
        solved: Tensor = torch.linalg.solve_triangular(self.factor, cross, upper=False)
        return solved

    def mean_of(self, explained: Tensor) -> Tensor:
        """Return m `(n,)` of graphs of which `explained` returned E `(q, n)`."""
        means: Tensor = explained.T @ self._whitened
        return means

    def variance_of(self, explained: Tensor, index: Tensor) -> Tensor:
        """Return the variances `(n,)` of the graphs `index`, of which `explained` returned E `(q, n)`."""
        prior = self.hyperparameters.scale * self.kernel.diagonal(index)
        variances: Tensor = (prior - explained.square().sum(0)).clamp(min=0)
        return variances

    def mean_and_variance(self, index: Tensor, at_a_time: int = BLOCK) -> tuple[Tensor, Tensor]:
        """Return means and variances of the graphs `index` `(n,)`, `(n,)` float64 each, computed in blocks."""
        means, variances = [], []
        for block in index.split(at_a_time):
            explained = self.explained(block)
            means.append(self.mean_of(explained))
            variances.append(self.variance_of(explained, block))
        return torch.cat(means), torch.cat(variances)

    def dual_weights(self) -> Tensor:
        """Return alpha = A^{-1} y `(q,)`, A = L L^T, with which m = s k(., seen) alpha."""
        weights: Tensor = torch.linalg.solve_triangular(self.factor.T, self._whitened.unsqueeze(1), upper=True)
        return weights.squeeze(1)

    def target_weights(self, index: Tensor) -> Tensor:
        """Return A^{-1} s k(seen, .) of the graphs `index` `(n,)`, `(q, n)`: the weights of y in their means."""
        weights: Tensor = torch.linalg.solve_triangular(self.factor.T, self.explained(index), upper=True)
        return weights

    def covariance(self, index: Tensor) -> Tensor:
        """Return the joint covariance C of the graphs `index` `(n,)`, `(n, n)` float64."""
        explained = self.explained(index)
        within = self.hyperparameters.scale * self.kernel.columns(index, index)
        return (within + within.T) / 2 - explained.T @ explained
