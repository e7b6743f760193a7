"""Uniform random play: the yardstick of every table."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Batch

from agents.contract.base import BaseAgent
from agents.contract.inputs import masked_argmax


@dataclass(frozen=True)
class RandomSettings:
    """Settings of random play: there are none."""


class RandomAgent(BaseAgent[RandomSettings]):
    """Play each allowed graph with the same probability; learn nothing."""

    def begin(self, graphs: Batch, seed: int) -> None:
        """Take no notice of the graphs but their number."""

    def choose(self, mask: Tensor) -> int:
        """Return any allowed graph: all tie."""
        return masked_argmax(torch.zeros(len(mask)), mask, self.generator)

    def learn(self, actions: Tensor, rewards: Tensor) -> None:
        """Forget the rewards."""


def uniform(settings: RandomSettings) -> RandomAgent:
    """Uniform random play."""
    return RandomAgent(settings)
