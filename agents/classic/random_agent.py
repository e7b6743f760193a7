"""Uniform random play, the baseline of every table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from agents.classic.drawing import DrawingAgent
from agents.contract.inputs import masked_argmax


@dataclass(frozen=True)
class RandomSettings:
    """Settings of random play; it has none."""


class RandomAgent(DrawingAgent[RandomSettings]):
    """Uniform random play, which learns nothing.

    Args:
        settings: no settings.
    """

    settings: RandomSettings
    reads = frozenset[str]()
    learns = False

    def begin(self, graphs: Batch, seed: int) -> None:
        """Do nothing."""

    def probabilities(self, mask: Tensor) -> Tensor:
        """Return the same probability for each allowed graph."""
        return mask / mask.sum(dtype=torch.float64)

    def choose(self, mask: Tensor) -> int:
        """Return a random allowed graph."""
        return masked_argmax(torch.zeros(len(mask)), mask, self.generator)

    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Do nothing."""

    def meet(self, kept: Tensor, graphs: Sequence[Data]) -> None:
        """Do nothing: random play is the same on any graphs."""
