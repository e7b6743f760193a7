"""UCB1: an exploration bonus that grows with the logarithm of the round."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.contract.protocol import State


@dataclass
class CountBonus:
    """Add a bonus that grows with the round: mean + sqrt(2 log t) spread      [UCB1 of Auer et al. 2002]."""

    rounds: int = field(default=0, init=False)

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the upper bound of each graph; infinite if the graph has no reward yet."""
        self.rounds += 1
        return belief.mean + math.sqrt(2 * math.log(self.rounds + 1)) * belief.spread

    def forget_graphs(self) -> None:
        """Do nothing: the rule counts rounds only."""

    def state_dict(self) -> State:
        """Return the number of rounds."""
        return {"rounds": self.rounds}

    def load_state_dict(self, state: State) -> None:
        """Replace the number of rounds."""
        self.rounds = state["rounds"]
