"""A Gaussian process on K graphs, updated reward by reward in square-root form."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from agents.contract.protocol import State
from gntk import symmetric_root


class GaussianProcess:
    """Posterior N(m, S S^T) of the mean rewards of K graphs, in float64.

    One reward y of graph a with noise variance s^2 changes it by Potter's square-root update in O(K^2) time and memory:

        v = S^T e_a,   phi = |v|^2 + s^2,
        m <- m + S v (y - m_a) / phi,   S <- S - S v v^T / (phi + sqrt(phi s^2))      [Potter 1963]

    S S^T always stays positive semi-definite, and a joint draw is m + S z.

    Args:
        kernel: `(K, K)` float64, positive semi-definite, possibly singular. Prior covariance.
        noise_variance: s^2 > 0, in squared units of the rewards.
        counts: `(K,)`. Number of rewards already observed of each graph; None: no rewards.
        means: `(K,)` float64. Their mean rewards.
    """

    def __init__(
        self, kernel: Tensor, noise_variance: float, counts: Tensor | None = None, means: Tensor | None = None
    ) -> None:
        self.noise_variance = noise_variance
        self.root = symmetric_root(kernel)
        self.mean = kernel.new_zeros(len(kernel))
        if counts is not None and means is not None and bool(counts.any()):
            self.condition(counts, means)

    @staticmethod
    def of_root(root: Tensor, noise_variance: float, mean: Tensor | None = None) -> GaussianProcess:
        """Return a process with a known root of its covariance, `(K, K)` float64, and a known mean; None: 0."""
        process = GaussianProcess.__new__(GaussianProcess)
        process.noise_variance, process.root = noise_variance, root
        process.mean = root.new_zeros(len(root)) if mean is None else mean
        return process

    @property
    def variance(self) -> Tensor:
        """Return the posterior variances, `(K,)` float64."""
        variance: Tensor = self.root.square().sum(1)
        return variance

    def copy(self) -> GaussianProcess:
        """Return a process that goes on by itself."""
        return copy.deepcopy(self)

    def state_dict(self) -> State:
        """Return root and mean."""
        return {"root": self.root.clone(), "mean": self.mean.clone()}

    def add(self, action: int, reward: float) -> None:
        """Condition on one reward."""
        direction = self.root[action].clone()
        total = direction @ direction + self.noise_variance
        gain = self.root @ direction
        self.mean += gain * ((reward - self.mean[action]) / total)
        self.root -= torch.outer(gain / (total + (total * self.noise_variance).sqrt()), direction)

    def retarget(self, counts: Tensor, means: Tensor) -> None:
        """Replace the rewards of all graphs so far by others, in O(K^2): the covariance S S^T does not depend on them.

            m = S S^T (counts * means) / s^2,   where the prior mean is 0

        Args:
            counts: `(K,)` float64. Number of rewards of each graph so far.
            means: `(K,)` float64. Their new mean rewards.
        """
        self.mean = self.root @ (self.root.T @ (counts * means / self.noise_variance))

    def given(self, counts: Tensor, means: Tensor) -> GaussianProcess:
        """Return the posterior given rewards of q graphs at once: `add` for many of them, in O(q K^2).

            V = S^T E_q,   F F^T = V^T V + D D^T,   D = s diag(1 / sqrt(counts)),
            m' = m + S V F^{-T} F^{-1} (ybar - m_q),   S' = S - S V F^{-T} (F + D)^{-1} V^T      [Andrews 1968]

        Args:
            counts: `(K,)`. Number of rewards of each graph, or the sum of their weights.
            means: `(K,)` float64. Their mean rewards.

        Raises:
            LinAlgError: if V^T V + D D^T is not positive definite in float64.
        """
        seen = counts.nonzero().squeeze(1)
        rows, noise = self.root[seen], self.noise_variance / counts[seen].double()
        factor = torch.linalg.cholesky(rows @ rows.T + torch.diag(noise))
        gain = torch.linalg.solve_triangular(factor, rows @ self.root.T, upper=False)
        surprise = torch.linalg.solve_triangular(factor, (means - self.mean)[seen].unsqueeze(1), upper=False)
        less = torch.linalg.solve_triangular(factor + torch.diag(noise.sqrt()), rows, upper=False)
        mean = self.mean + (gain.T @ surprise).squeeze(1)
        return GaussianProcess.of_root(self.root - gain.T @ less, self.noise_variance, mean)

    def condition(self, counts: Tensor, means: Tensor) -> None:
        """Condition on all rewards at once, in O(K^3), where the prior mean is 0.

        With prior root R and mean rewards R z, the posterior precision of z is I + R^T diag(n) R / s^2 = L L^T. The
        posterior root is therefore R L^{-T}, and the mean is R (L L^T)^{-1} R^T (n ybar) / s^2.

        Args:
            counts: `(K,)`. Number of rewards of each graph.
            means: `(K,)` float64. Their mean rewards.
        """
        counts = counts.double()
        inner = self.root.T @ (self.root * (counts / self.noise_variance).unsqueeze(1))
        inner.diagonal().add_(1)
        inner = (inner + inner.T).div_(2)
        self.root = torch.linalg.solve_triangular(torch.linalg.cholesky(inner), self.root.T, upper=False).T
        self.retarget(counts, means)
