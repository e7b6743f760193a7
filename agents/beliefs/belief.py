"""The belief about the graphs that acquisition rules receive, the interface of a rule, and the data for diagnostics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.beliefs.rewards import Targets
from agents.contract.protocol import State

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Belief:
    """An agent's belief about the mean rewards of K graphs, in the units of its targets.

    Attributes:
        mean: `(K,)` float64. f(G).
        spread: `(K,)` float64. nu sigma(G), a standard deviation.
        root: returns R, `(K, r)` float64, with R R^T = nu^2 times the joint covariance of the graphs. None for
            independent graphs.
        best: largest mean among the graphs played, or None before the first reward.
    """

    mean: Tensor
    spread: Tensor
    root: Callable[[], Tensor] | None = None
    best: float | None = None

    def joint_root(self) -> Tensor:
        """Compute R, `(K, r)` float64. Rules that do not need it avoid its cost."""
        return torch.diag(self.spread) if self.root is None else self.root()

    def deviation(self, generator: torch.Generator) -> Tensor:
        """Draw the joint deviation of the rewards from their means: `(K,)` float64."""
        root = self.joint_root()
        return root @ torch.randn(root.shape[1], generator=generator, dtype=root.dtype)


class AcquisitionRule(Protocol):
    """A rule that computes an index from a belief. The agent plays the graph with the largest index.

    A rule is a dataclass. Its `__init__` fields are settings of every agent that uses it. A new rule is made at each
    `reset`. A rule with memory returns it from `state_dict`, and drops its memory of individual graphs when
    `forget_graphs` is called because the graphs change. Other rules are `Memoryless`. A rule that returns draws of the
    rewards sets `draws_rewards = True`, and `draws_jointly = True` for joint draws. Otherwise each call of
    `Belief.joint_root` may decompose the covariance. A rule that permanently eliminates graphs sets
    `eliminates = True`. A rule whose index is not in units of the rewards sets `price_weight`, the decrease of a
    graph's index if its price is multiplied by e. A rule whose choices changed between versions sets `algorithm`, the
    version from which its agents count, to 2 or more.

    A randomised rule with computable play probabilities has a method
    `choice_probabilities(belief, action_mask, generator, draws)`. It returns the probability of each graph and its
    standard error, `(K,)` each. The error is 0 if nothing is drawn. `generator` is for the `draws` draws that it needs.
    """

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the index of each graph.

        Args:
            belief: belief about the K graphs.
            action_mask: `(K,)` bool. Graphs on offer in this round.
            generator: generator of all the agent's randomness.

        Returns:
            `(K,)` float64 without NaN. The allowed graph with the largest index is played. Ties are broken at random.
        """

    def forget_graphs(self) -> None:
        """Discard the memory of individual graphs, because the next round shows other graphs."""

    def state_dict(self) -> State:
        """Return the memory of the rule."""

    def load_state_dict(self, state: State) -> None:
        """Replace the memory of the rule."""


class Memoryless:
    """A rule without memory."""

    def forget_graphs(self) -> None:
        """Do nothing."""

    def state_dict(self) -> State:
        """Return an empty dict."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Do nothing."""


class Fantasize(Protocol):
    """A function that fantasizes unknown rewards."""

    def __call__(self, *actions: int) -> Belief:
        """Return the belief after these actions as well, with rewards equal to their means."""


@dataclass(frozen=True, eq=False)
class Insight:
    """The belief about the K graphs behind a choice, and measures of the covariance at that time.

    It is used for diagnostics only.

    Attributes:
        mean: `(K,)` float64. f(G), in reward units.
        spread: `(K,)` float64. nu sigma(G), in reward units.
        sampled: `(K,)` float64. r_hat(G), in reward units. None if the rule draws no rewards.
        variance: `(K,)` float64. sigma^2(G), in units of the noise variance.
        log_determinant: log det(U / ridge) after all earlier rounds.
        effective_dimension: effective dimension of the kernel at these weights. Its horizon is the number of earlier
            rounds, at least 1.
        misfit: root mean square of the standardised errors of earlier forecasts: 1 is expected, `nan` before any.
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
