"""Protocol of an acquisition rule, for those who write one and for the agents that play by it."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.contract.protocol import State


class AcquisitionRule(Protocol):
    """From belief to the index whose largest entry is played.

    A rule is a dataclass: its fields with `init` are settings of every agent that plays by it. One is made at each
    `reset`. A rule that remembers says what in `state_dict`; the others are `Memoryless`. A rule that returns draws of
    the rewards says so by `draws_rewards = True`, one that draws them jointly by `draws_jointly = True`.
    """

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the index of each graph.

        Args:
            belief: about the K graphs.
            action_mask: `(K,)` bool. Graphs of this round.
            generator: of all the agent's randomness.

        Returns:
            `(K,)` float64, no NaN: the largest among the allowed graphs is played, ties at random.
        """

    def state_dict(self) -> State:
        """Return what the rule remembers."""

    def load_state_dict(self, state: State) -> None:
        """Replace what the rule remembers."""


class Memoryless:
    """A rule that remembers nothing."""

    def state_dict(self) -> State:
        """Return nothing."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Replace nothing."""
