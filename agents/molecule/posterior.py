"""The posterior of a Gaussian process on many molecules when only a few are measured."""

from __future__ import annotations

import torch
from torch import Tensor

from agents.beliefs.rewards.likelihood import Hyperparameters
from agents.molecule.kernel import Kernel

BLOCK = 4096  # molecules with covariances to those measured in memory at a time


class DualPosterior:
    """Condition N(0, s k) on the mean values of q molecules, in dual form, a block of molecules at a time.

        m(G) = s k(G)^T (s K + D)^{-1} y,   v(G) = s k(G, G) - |L^{-1} s k(G)|^2,   L L^T = s K + D

    D is diagonal with entries noise / counts.

    Args:
        kernel: kernel of the set.
        hyperparameters: s and the noise variance, in squared units of the targets.
        seen: `(q,)` int64. Molecules measured, each listed once.
        counts: `(q,)`. Number of measurements of each.
        targets: `(q,)` float64. Mean of the measurements of each.
    """

    def __init__(
        self, kernel: Kernel, hyperparameters: Hyperparameters, seen: Tensor, counts: Tensor, targets: Tensor
    ) -> None:
        self.kernel, self.hyperparameters, self.seen = kernel, hyperparameters, seen
        inner = hyperparameters.scale * kernel.columns(seen, seen)[0]
        inner = (inner + inner.T) / 2
        inner.diagonal().add_(hyperparameters.noise / counts.double())
        self._factor = torch.linalg.cholesky(inner)
        self._whitened = torch.linalg.solve_triangular(self._factor, targets.unsqueeze(1), upper=False).squeeze(1)

    def mean_and_variance(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return m and v of the molecules `index` `(n,)`: `(n,)` float64 each, in units of the targets."""
        means, variances = [], []
        for block in index.split(BLOCK):
            explained, prior = self._explained(block)
            means.append(explained.T @ self._whitened)
            variances.append((prior - explained.square().sum(0)).clamp(min=0))
        return torch.cat(means), torch.cat(variances)

    def covariance(self, index: Tensor) -> Tensor:
        """Return the joint covariance of the molecules `index` `(n,)`, `(n, n)` float64."""
        explained, _ = self._explained(index)
        within = self.hyperparameters.scale * self.kernel.columns(index, index)[0]
        return (within + within.T) / 2 - explained.T @ explained

    def _explained(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return L^{-1} s k, `(q, n)`, and s k(G, G), `(n,)`."""
        cross, diagonal = self.kernel.columns(self.seen, index)
        scale = self.hyperparameters.scale
        return torch.linalg.solve_triangular(self._factor, scale * cross, upper=False), scale * diagonal
