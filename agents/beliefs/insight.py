"""What an agent believed when it last chose: for those who study it, never for play."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from agents.beliefs.belief import Belief

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Insight:
    """The belief of one choice about the K graphs, and what the covariance has seen by then.

    Attributes:
        mean: `(K,)`. f(G), in reward units.
        spread: `(K,)`. nu sigma(G), in reward units.
        sampled: `(K,)`, r_hat(G) in reward units; None if the rule draws no rewards.
        variance: `(K,)`. sigma^2(G), in units of the noise variance.
        log_determinant: log det(U / ridge) of all rounds before this one.
        effective_dimension: of the kernel at these weights, with the number of those rounds (at least 1) as horizon.
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
    location: float,
    unit: float,
    variance: Tensor,
    log_determinant: float,
    effective_dimension: float,
) -> Insight:
    """Return the insight of a belief in the units of targets, of which `unit` is one in rewards and `location` is 0."""
    draws = getattr(rule, "draws_rewards", False)
    return Insight(
        mean=(location + unit * belief.mean).numpy(),
        spread=(unit * belief.spread).numpy(),
        sampled=(location + unit * index).numpy() if draws else None,
        variance=variance.numpy(),
        log_determinant=log_determinant,
        effective_dimension=effective_dimension,
    )
