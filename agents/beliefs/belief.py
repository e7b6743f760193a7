"""The belief about the graphs, which is all that an acquisition rule sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Belief:
    """An agent's belief about the mean rewards of K graphs, in the units of its targets.

    Attributes:
        mean: `(K,)` float64. f(G).
        spread: `(K,)` float64. nu sigma(G), a standard deviation.
        root: returns R, `(K, r)` float64, with R R^T = nu^2 times the joint covariance of the graphs; None: the graphs
            are independent.
        best: largest mean among the graphs played; None before the first reward.
    """

    mean: Tensor
    spread: Tensor
    root: Callable[[], Tensor] | None = None
    best: float | None = None

    def joint_root(self) -> Tensor:
        """Compute R, `(K, r)` float64; rules that do not need it save its cost."""
        return torch.diag(self.spread) if self.root is None else self.root()

    def deviation(self, generator: torch.Generator) -> Tensor:
        """Draw by how much the rewards differ from their means, jointly: `(K,)` float64."""
        root = self.joint_root()
        return root @ torch.randn(root.shape[1], generator=generator, dtype=root.dtype)


class Imagine(Protocol):
    """A function that imagines rewards which are not known yet."""

    def __call__(self, *actions: int) -> Belief:
        """Return the belief after these actions too, if their rewards equal their means."""
