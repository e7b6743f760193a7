"""The belief about the graphs, which is all that an acquisition rule sees; and what diagnostics see of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.beliefs.rewards import Targets

Array = NDArray[np.float64]


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


@dataclass(frozen=True, eq=False)
class Insight:
    """The belief about the K graphs on which a choice was made, and measures of the covariance at that time.

    It is for diagnostics, and never used in play.

    Attributes:
        mean: `(K,)` float64. f(G), in reward units.
        spread: `(K,)` float64. nu sigma(G), in reward units.
        sampled: `(K,)` float64. r_hat(G), in reward units; None if the rule draws no rewards.
        variance: `(K,)` float64. sigma^2(G), in units of the noise variance.
        log_determinant: log det(U / ridge) after all earlier rounds.
        effective_dimension: effective dimension of the kernel at these weights; its horizon is the number of earlier
            rounds, at least 1.
    """

    mean: Array
    spread: Array
    sampled: Array | None
    variance: Array
    log_determinant: float
    effective_dimension: float


def make_insight(
    belief: Belief,
    index: Tensor,
    rule: object,
    targets: Targets,
    variance: Tensor,
    log_determinant: float,
    effective_dimension: float,
) -> Insight:
    """Convert a belief from the units of the targets to reward units."""
    draws = getattr(rule, "draws_rewards", False)
    mean, spread = targets.moments(belief.mean, belief.spread)
    return Insight(
        mean=mean.numpy(),
        spread=spread.numpy(),
        sampled=targets.to_rewards(index).numpy() if draws else None,
        variance=variance.numpy(),
        log_determinant=log_determinant,
        effective_dimension=effective_dimension,
    )
