"""Greedy play: the largest mean."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.beliefs.rules.rule import Memoryless


@dataclass
class Greedy(Memoryless):
    """Play the graph of largest mean f(G)."""

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the mean of each graph."""
        return belief.mean
