"""Belief about the graphs: all that an acquisition rule is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Belief:
    """What an agent believes of the mean rewards of K graphs, in the units of its targets; all float64.

    Attributes:
        mean: `(K,)`. f(G).
        spread: `(K,)`. nu sigma(G), a standard deviation.
        root: returns R, `(K, r)`, where R R^T is nu^2 times the joint covariance of the graphs; None: they are believed
            to be independent.
        best: the largest mean of a graph that was played; None before the first reward.
    """

    mean: Tensor
    spread: Tensor
    root: Callable[[], Tensor] | None = None
    best: float | None = None

    def joint_root(self) -> Tensor:
        """Return R; only a rule that asks for it pays for it."""
        return torch.diag(self.spread) if self.root is None else self.root()
