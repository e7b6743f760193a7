"""Upper confidence bounds: play the largest mean plus some standard deviations."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.beliefs.rules.rule import Memoryless


@dataclass
class UpperConfidenceBound(Memoryless):
    """Play the largest upper bound: f(G) + nu sigma(G)      [Zhou et al. 2020; Kassraie et al. 2022]."""

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the upper bound of each graph."""
        return belief.mean + belief.spread
