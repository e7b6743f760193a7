"""Uniform random play, the baseline of every table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch_geometric.data import Batch, Data

from agents.contract.abilities import DRAWS, ActionProbabilities
from agents.contract.base import BaseAgent
from agents.contract.inputs import masked_argmax, read_mask
from gntk import one_thread


@dataclass(frozen=True)
class RandomSettings:
    """Settings of random play; it has none."""


class RandomAgent(BaseAgent[RandomSettings]):
    """Play each allowed graph with the same probability, and learn nothing.

    Args:
        settings: no settings.
    """

    reads = frozenset[str]()
    learns = False

    def begin(self, graphs: Batch, seed: int) -> None:
        """Do nothing."""

    def choose(self, mask: Tensor) -> int:
        """Return a random allowed graph."""
        return masked_argmax(torch.zeros(len(mask)), mask, self.generator)

    @one_thread()
    def action_probabilities(
        self, observation: object, action_mask: ArrayLike | None = None, draws: int = DRAWS
    ) -> ActionProbabilities:
        """Return the same probability for each allowed graph; see `agents.contract.PlayForecaster`."""
        self.look_at(observation)
        mask = read_mask(action_mask, self.num_graphs).numpy()
        return ActionProbabilities(mask / mask.sum(), np.zeros(len(mask)))

    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Do nothing."""

    def meet(self, kept: Tensor, graphs: Sequence[Data]) -> None:
        """Do nothing: random play is the same on any graphs."""


def uniform(settings: RandomSettings) -> RandomAgent:
    """Uniform random play."""
    return RandomAgent(settings)
