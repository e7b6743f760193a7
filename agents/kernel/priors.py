"""The prior covariance of the graphs, and the posterior given all rewards: with a whole kernel, or with its columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

from agents.beliefs.posterior import DualPosterior
from agents.beliefs.rewards.likelihood import Hyperparameters
from agents.contract.protocol import State
from agents.kernel.columns import ColumnProcess, KernelColumns
from agents.kernel.gaussian_process import GaussianProcess
from agents.kernel.kernels import KernelGraphs
from gntk import symmetric_root

SAMPLE = 500  # graphs over which the variance of rewards is averaged, where the kernel is not whole

Process = GaussianProcess | ColumnProcess


class Prior(Protocol):
    """The prior covariance of M graphs, apart from its scale."""

    def among(self, slots: Tensor) -> Tensor:
        """Return the kernel of some graphs with each other, `(n, n)` float64."""

    def sample(self) -> Tensor:
        """Return the kernel of graphs that stand for all."""

    def condition(self, fitted: Hyperparameters, counts: Tensor, targets: Tensor) -> Process:
        """Return the posterior given counts `(M,)` and mean targets `(M,)` of the rewards.

        Raises:
            LinAlgError: if it cannot be computed in float64.
        """

    def state(self) -> State:
        """Return what is not computed again."""


@dataclass(frozen=True, eq=False)
class WholePrior:
    """The whole kernel: O(M^2) memory."""

    kernel: Tensor
    """`(M, M)` float64."""
    offered: Tensor | None = None
    """`(K,)` int64. Slots of the graphs of the posterior, in its order; None: all."""
    decomposed: bool = False
    """Whether the prior is decomposed once, for many posteriors: O(q M^2) each, not O(M^3)."""

    def among(self, slots: Tensor) -> Tensor:
        """Return the kernel of some graphs with each other."""
        return self.columns(slots, slots)

    def sample(self) -> Tensor:
        """Return the kernel."""
        return self.kernel

    def condition(self, fitted: Hyperparameters, counts: Tensor, targets: Tensor) -> GaussianProcess:
        """Return the posterior, from which joint draws are made."""
        if self.decomposed and self.offered is None:
            prior = GaussianProcess.of_root(fitted.scale**0.5 * self._root, fitted.noise)
            return prior.given(counts, targets)
        if self.offered is None:
            return GaussianProcess(fitted.scale * self.kernel, fitted.noise, counts, targets)
        seen = counts.nonzero().squeeze(1)
        posterior = DualPosterior(self, fitted, seen, counts[seen], targets[seen])
        mean = posterior.mean_of(posterior.explained(self.offered))
        return GaussianProcess.of_root(symmetric_root(posterior.covariance(self.offered)), fitted.noise, mean)

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel of some graphs with others, `(q, n)` float64."""
        return self.kernel[rows][:, index]

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of some graphs with themselves, `(n,)` float64."""
        return self.kernel.diagonal()[index]

    def state(self) -> State:
        """Return the kernel."""
        return {"kernel": self.kernel.clone()}

    @cached_property
    def _root(self) -> Tensor:
        return symmetric_root(self.kernel)


class ColumnPrior:
    """The kernel of the graphs played with all: O(q K) memory.

    Args:
        graphs: K graphs.
    """

    def __init__(self, graphs: KernelGraphs) -> None:
        self._graphs, self._columns = graphs, KernelColumns(graphs)

    def among(self, slots: Tensor) -> Tensor:
        """Return the kernel of some graphs with each other."""
        return self._columns.columns(slots, slots)

    def sample(self) -> Tensor:
        """Return the kernel of `SAMPLE` graphs that are evenly spaced in the set."""
        count = len(self._columns.whole_diagonal)
        slots = torch.arange(min(count, SAMPLE)) * count // min(count, SAMPLE)
        return self._graphs.exchange(slots, []).rows()

    def condition(self, fitted: Hyperparameters, counts: Tensor, targets: Tensor) -> ColumnProcess:
        """Return means and variances of the posterior."""
        return ColumnProcess(self._columns, fitted, counts, targets)

    def state(self) -> State:
        """Return an empty dict."""
        return {}
