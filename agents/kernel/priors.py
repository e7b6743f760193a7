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
from agents.kernel.columns import ColumnProcess, Columns, KernelColumns
from agents.kernel.gaussian_process import GaussianProcess
from agents.kernel.kernels import KernelGraphs
from gntk import symmetric_root

ROWS = 1.0  # of a posterior in dual form, at most, as a share of the graphs
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

    def state(self, posterior: Process) -> State:
        """Return a posterior, and what is not computed again; the entries are the same after any rewards."""

    def restore(self, state: State, noise: float) -> Process:
        """Return the posterior of a state, with this noise variance."""


@dataclass(frozen=True, eq=False)
class WholePrior:
    """The whole kernel: O(M^2) memory. It is decomposed once, when joint draws or many rewards need it."""

    kernel: Tensor
    """`(M, M)` float64."""
    offered: Tensor | None = None
    """`(K,)` int64. Slots of the graphs of the posterior, in its order; None: all."""
    often: bool = False
    """Make each posterior in O(q M^2) instead of O(M^3), because there is one in each round."""
    draws_jointly: bool = True
    """Keep a root of the covariance, which joint draws need."""

    def among(self, slots: Tensor) -> Tensor:
        """Return the kernel of some graphs with each other."""
        return self.columns(slots, slots)

    def sample(self) -> Tensor:
        """Return the kernel."""
        return self.kernel

    def condition(self, fitted: Hyperparameters, counts: Tensor, targets: Tensor) -> Process:
        """Return the posterior, from which joint draws are made if they are wanted."""
        if self.offered is None and not self.draws_jointly and self._few(counts):
            return ColumnProcess(self, fitted, counts, targets)
        if self.offered is None:
            process = GaussianProcess.of_root(fitted.scale**0.5 * self._root, fitted.noise)
            if self.often:
                return process.given(counts, targets)
            if counts.any():
                process.condition(counts, targets)
            return process
        seen = counts.nonzero().squeeze(1)
        posterior = DualPosterior(self, fitted, seen, counts[seen], targets[seen])
        mean = posterior.mean_of(posterior.explained(self.offered))
        return GaussianProcess.of_root(symmetric_root(posterior.covariance(self.offered)), fitted.noise, mean)

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel of some graphs with others, `(q, n)` float64."""
        return self.kernel[rows][:, index]

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of some graphs with themselves, `(n,)` float64."""
        return self.whole_diagonal[index]

    @property
    def whole_diagonal(self) -> Tensor:
        """Return the kernel of each graph with itself, `(M,)` float64."""
        return self.kernel.diagonal()

    def column(self, slot: int) -> Tensor:
        """Return the kernel of a graph with all, `(M,)` float64."""
        return self.kernel[slot]

    def whole(self) -> Tensor:
        """Return the kernel."""
        return self.kernel

    def state(self, posterior: Process) -> State:
        """Return the kernel and the posterior; what its form lacks is empty, or not read."""
        known = {"kernel": self.kernel.clone(), **posterior.state_dict()}
        if self.draws_jointly:
            return known
        none, slots = self.kernel.new_zeros(0), torch.zeros(0, dtype=torch.int64)
        no_rows = {"rows": none.view(0, 1).expand(0, len(posterior.mean)), "block": none.view(0, 0), "pivots": none}
        scalars = {"variance": posterior.variance, "scale": 1.0}
        return {"root": none.view(0, 0), **no_rows, "played": slots, **scalars, **known}

    def restore(self, state: State, noise: float) -> Process:
        """Return a posterior in the form that it had."""
        if not len(state["root"]):
            return _restore_columns(self, state, noise)
        count = len(state["mean"])
        if state["root"].shape != (count, count) or len(state.get("rows", ())):
            raise ValueError(
                f"Expected the root of a covariance of {count} graphs, or rows of their kernel. Got a root "
                f"{tuple(state['root'].shape)} and {len(state.get('rows', ()))} rows."
            )
        return GaussianProcess.of_root(state["root"].clone(), noise, state["mean"].clone())

    def _few(self, counts: Tensor) -> bool:
        """Return whether rows cost less than a root: of q graphs, and of as many rewards again until the next fit."""
        until_then = 0.0 if self.often else counts.sum()
        return bool(counts.count_nonzero() + until_then <= ROWS * len(self.kernel))

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

    def state(self, posterior: Process) -> State:
        """Return the posterior."""
        return posterior.state_dict()

    def restore(self, state: State, noise: float) -> ColumnProcess:
        """Return means and variances as they were."""
        return _restore_columns(self._columns, state, noise)


def _restore_columns(kernel: Columns, state: State, noise: float) -> ColumnProcess:
    process = ColumnProcess(kernel, Hyperparameters(state["scale"], noise))
    process.load_state_dict(state)
    return process
