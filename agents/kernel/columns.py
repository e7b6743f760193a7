"""A Gaussian process from the columns of the graphs played: a few of many, or of more than a whole kernel can hold."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from agents.beliefs.posterior import DualPosterior, Kernel
from agents.beliefs.rewards.likelihood import Hyperparameters
from agents.contract.protocol import State
from agents.kernel.kernels import KernelGraphs
from gntk import symmetric_root

KEPT = ("variance", "rows", "block", "pivots", "played")  # tensors of a posterior


class Columns(Kernel, Protocol):
    """A kernel of K graphs that is read by its columns."""

    @property
    def whole_diagonal(self) -> Tensor:
        """Return the kernel of each graph with itself, `(K,)` float64."""

    def column(self, slot: int) -> Tensor:
        """Return the kernel of a graph with all, `(K,)` float64."""

    def whole(self) -> Tensor | None:
        """Return the kernel of all graphs, `(K, K)` float64; None if it is not held."""


class KernelColumns:
    """The kernel of K graphs, of which each column is computed when it is first asked for, and kept.

    Args:
        graphs: the graphs.
    """

    def __init__(self, graphs: KernelGraphs) -> None:
        self._graphs, self._columns = graphs, dict[int, Tensor]()
        self.whole_diagonal = graphs.diagonal()

    def column(self, slot: int) -> Tensor:
        """Return the kernel of a graph with all, `(K,)` float64."""
        if slot not in self._columns:
            self._columns[slot] = self._graphs.rows(torch.tensor([slot]))[0]
        return self._columns[slot]

    def whole(self) -> None:
        """Return None: there are more graphs than a whole kernel can hold."""

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel of some graphs with others, `(q, n)` float64."""
        kept = [self.column(slot)[index] for slot in rows.tolist()]
        return torch.stack(kept) if kept else self.whole_diagonal.new_zeros(0, len(index))

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of some graphs with themselves, `(n,)` float64."""
        return self.whole_diagonal[index]


class ColumnProcess:
    """Posterior means and variances of the mean rewards of K graphs, in float64, for rules that draw none jointly.

    One reward y of graph a with noise variance s^2 adds a row e to E, in O(t K) time and O(K) memory:

        p e = k_a - E^T E_a,   p^2 = k_aa - |E_a|^2 + s^2,
        m <- m + e (y - m_a) / p,   v <- v - e^2       [Rasmussen & Williams 2006, Eqs. 2.25 and 2.26, one y at a time]

    p e is the posterior covariance of graph a with all. The rewards so far are conditioned on at once. E and p hold all
    of L, E = L^{-1} k, but its first block, that of the rewards conditioned on at once.

    Args:
        kernel: the prior covariance is the output scale times this.
        fitted: output scale s and noise variance.
        counts: `(K,)`. Number of rewards already observed of each graph; None: no rewards.
        targets: `(K,)` float64. Their mean targets.
    """

    def __init__(
        self,
        kernel: Columns,
        fitted: Hyperparameters,
        counts: Tensor | None = None,
        targets: Tensor | None = None,
    ) -> None:
        self._kernel, self._scale, self.noise_variance = kernel, fitted.scale, fitted.noise
        every = torch.arange(len(kernel.whole_diagonal))
        if counts is None or targets is None:
            counts = targets = torch.zeros(len(every), dtype=torch.float64)
        seen = counts.nonzero().squeeze(1)
        posterior = DualPosterior(kernel, fitted, seen, counts[seen], targets[seen])
        self._block, self._pivots, self._played = posterior.factor, posterior.factor.diagonal().clone(), seen
        self._rows = posterior.explained(every)
        self.mean = posterior.mean_of(self._rows)
        self._variance = posterior.variance_of(self._rows, every)

    @property
    def root(self) -> Tensor:
        """Return the symmetric root of the covariance, `(K, K)` float64, decomposed each time, if the kernel is held.

        Raises:
            ValueError: if only columns of the kernel are held.
        """
        kernel = self._kernel.whole()
        if kernel is None:
            raise ValueError(
                "Expected a rule that needs no joint draws. Got one that does, and only columns of the kernel."
            )
        return symmetric_root(self._scale * kernel - self._rows.T @ self._rows)

    @property
    def variance(self) -> Tensor:
        """Return the posterior variances, `(K,)` float64."""
        return self._variance.clamp(min=0)

    def add(self, action: int, reward: float) -> None:
        """Condition on one reward."""
        covariance = self._scale * self._kernel.column(action) - self._rows[:, action] @ self._rows
        pivot = (covariance[action].clamp(min=0) + self.noise_variance).sqrt()
        row = covariance / pivot
        self.mean = self.mean + row * ((reward - self.mean[action]) / pivot)
        self._variance = self._variance - row.square()
        self._rows = torch.cat([self._rows, row.unsqueeze(0)])
        self._pivots = torch.cat([self._pivots, pivot.unsqueeze(0)])
        self._played = torch.cat([self._played, torch.tensor([action])])

    def retarget(self, counts: Tensor, means: Tensor) -> None:
        """Replace the rewards of all graphs so far by others, in O(t^2 + t K): L and E do not depend on them.

            m = E^T L^{-1} y

        Args:
            counts: `(K,)` float64. Number of rewards of each graph so far, which L knows.
            means: `(K,)` float64. Their new mean rewards.
        """
        factor = self._rows[:, self._played].T.tril(-1) + self._pivots.diag()
        first = len(self._block)
        factor[:first, :first] = self._block
        whitened = torch.linalg.solve_triangular(factor, means[self._played].unsqueeze(1), upper=False)
        self.mean = (self._rows.T @ whitened).squeeze(1)

    def copy(self) -> ColumnProcess:
        """Return a process that goes on by itself; what both know is shared."""
        other = ColumnProcess.__new__(ColumnProcess)
        vars(other).update(vars(self))  # no tensor is ever changed in place
        return other

    def state_dict(self) -> State:
        """Return mean, variance, rows and the rest of L, and the scale of the prior."""
        kept = {name: vars(self)[f"_{name}"].clone() for name in KEPT}
        return {**kept, "mean": self.mean.clone(), "scale": self._scale}

    def load_state_dict(self, state: State) -> None:
        """Replace all of these.

        Raises:
            ValueError: if they do not belong together. Nothing is changed then.
        """
        shapes = [tuple(state[name].shape) for name in KEPT]
        block, rows, graphs = len(state["block"]), len(state["rows"]), len(self.mean)
        if shapes != [(graphs,), (rows, graphs), (block, block), (rows,), (rows,)] or block > rows:
            raise ValueError(f"Expected parts of one posterior of {graphs} graphs. Got parts of shapes {shapes}.")
        if state["scale"] <= 0 or not bool(((state["played"] >= 0) & (state["played"] < graphs)).all()):
            raise ValueError(f"Expected a positive scale, and graphs from 0 to {graphs - 1}. Got others.")
        self._scale, self.mean = state["scale"], state["mean"].clone()
        for name in KEPT:
            setattr(self, f"_{name}", state[name].clone())
