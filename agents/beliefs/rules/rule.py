"""Protocol of an acquisition rule, and a base class for rules without memory."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.contract.protocol import State


class AcquisitionRule(Protocol):
    """A rule that computes an index from a belief; the agent plays the graph with the largest index.

    A rule is a dataclass. Its fields that `__init__` takes are settings of every agent that uses it. A new rule is made
    at each `reset`. A rule with memory returns it from `state_dict`, and drops what it knows of single graphs when
    `forget_graphs` is called, where graphs change; the others are `Memoryless`. A rule that returns draws of the
    rewards sets `draws_rewards = True`, and `draws_jointly = True` if it draws them jointly; else each call of
    `Belief.joint_root` may decompose the covariance. A rule that never plays a graph again that it has eliminated sets
    `eliminates = True`. A rule whose index is not in units of the rewards sets `price_weight`: by how much the index of
    a graph falls if its price is e times as high. A rule that chooses otherwise than it once did sets `algorithm`, the
    version from which its agents count, to 2 or more.

    A rule that draws at random, and knows with which probability it plays each graph, has a method
    `choice_probabilities(belief, action_mask, generator, draws)`. It returns the probability of each graph and its
    standard error, which is 0 where nothing is drawn, `(K,)` each; `generator` is for the `draws` draws that it needs.
    """

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the index of each graph.

        Args:
            belief: belief about the K graphs.
            action_mask: `(K,)` bool. Graphs on offer in this round.
            generator: generator of all the agent's randomness.

        Returns:
            `(K,)` float64 without NaN. The largest among the allowed graphs is played; ties are broken at random.
        """

    def forget_graphs(self) -> None:
        """Forget what was remembered about single graphs, because the round shows others."""

    def state_dict(self) -> State:
        """Return the memory of the rule."""

    def load_state_dict(self, state: State) -> None:
        """Replace the memory of the rule."""


class Memoryless:
    """A rule that remembers nothing."""

    def forget_graphs(self) -> None:
        """Do nothing."""

    def state_dict(self) -> State:
        """Return an empty dict."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Do nothing."""
