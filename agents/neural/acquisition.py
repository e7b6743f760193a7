"""Acquisition rules: from belief to the index whose largest entry is played. One class a rule."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor


class AcquisitionRule(Protocol):
    """A rule, made anew at each `reset`. One that remembers says what in `state_dict`; the others return {}."""

    def __call__(self, mean: Tensor, spread: Tensor, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the index of each graph.

        Args:
            mean: `(K,)` float64. f(G), in the units of the targets.
            spread: `(K,)` float64. nu sigma(G), a standard deviation in the same units.
            action_mask: `(K,)` bool. Graphs of this round.
            generator: of all the agent's randomness.

        Returns:
            `(K,)` float64, no NaN: the largest among the allowed graphs is played, ties at random.
        """

    def state_dict(self) -> dict[str, Any]:
        """Return what the rule remembers."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace what the rule remembers."""


class Memoryless:
    """Nothing to remember."""

    def state_dict(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace nothing."""


class ThompsonSampling(Memoryless):
    """Draw a reward for each graph from its own posterior.

    r_hat(G) ~ N(f(G; theta_{t-1}), nu^2 sigma_t^2(G))      [Wu & Amini 2024, Eq. (4)]
    """

    def __call__(self, mean: Tensor, spread: Tensor, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return r_hat of each graph, drawn independently."""
        return torch.normal(mean, spread, generator=generator)
