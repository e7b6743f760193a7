"""Epsilon-greedy play: the largest mean, except for random plays."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.beliefs.choices.largest import largest_of_draws
from agents.beliefs.rules.rule import Memoryless


@dataclass
class EpsilonGreedy(Memoryless):
    """Play a random graph with probability epsilon, else the graph of largest mean.

    Raises:
        ValueError: if `epsilon` is not a probability.
    """

    epsilon: float = 0.1
    """Probability of playing a random graph."""

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise ValueError(f"Expected `epsilon` to be between 0 and 1. Got {self.epsilon}.")

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the means; with probability epsilon, zeros, so that all graphs tie."""
        explore = torch.rand((), generator=generator) < self.epsilon
        return torch.zeros_like(belief.mean) if explore else belief.mean

    def choice_probabilities(
        self, belief: Belief, action_mask: Tensor, generator: torch.Generator, draws: int
    ) -> tuple[Tensor, Tensor]:
        """Return epsilon / n + (1 - epsilon) where the mean is largest, and epsilon / n for the others on offer."""
        best, _ = largest_of_draws(belief.mean.unsqueeze(0), action_mask)
        values = self.epsilon * action_mask.double() / action_mask.sum() + (1 - self.epsilon) * best
        return values, torch.zeros_like(values)
