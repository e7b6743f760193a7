"""The belief behind an agent's last choice, for diagnostics; it is never used in play."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.beliefs.rewards import Targets

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Insight:
    """The belief about the K graphs on which a choice was made, and measures of the covariance at that time.

    Attributes:
        mean: `(K,)` float64. f(G), in reward units.
        spread: `(K,)` float64. nu sigma(G), in reward units.
        sampled: `(K,)` float64. r_hat(G), in reward units; None if the rule draws no rewards.
        variance: `(K,)` float64. sigma^2(G), in units of the noise variance.
        log_determinant: log det(U / ridge) after all earlier rounds.
        effective_dimension: effective dimension of the kernel at these weights; its horizon is the number of earlier
            rounds, at least 1.
        misfit: root mean square of the standardised errors of earlier forecasts: 1 is expected; `nan` before any.
    """

    mean: Array
    spread: Array
    sampled: Array | None
    variance: Array
    log_determinant: float
    effective_dimension: float
    misfit: float


def make_insight(
    belief: Belief,
    index: Tensor,
    rule: object,
    targets: Targets,
    misfit: float,
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
        misfit=misfit,
    )
