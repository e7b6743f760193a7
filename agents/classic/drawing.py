"""Agents that draw each graph with a probability that they can state."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.contract.abilities import DRAWS, ActionProbabilities
from agents.contract.base import BaseAgent
from agents.contract.inputs import read_mask
from gntk import one_thread

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


class DrawingAgent(BaseAgent[S]):
    """Draw each graph with the probability that `probabilities` returns.

    Args:
        settings: settings of the agent.
    """

    @abstractmethod
    def probabilities(self, mask: Tensor) -> Tensor:
        """Return the probability `(K,)` float64 with which each graph that `mask` allows is played."""

    def choose(self, mask: Tensor) -> int:
        """Draw a graph."""
        return int(torch.multinomial(self.probabilities(mask), 1, generator=self.generator))

    @one_thread()
    def action_probabilities(
        self, observation: object, action_mask: ArrayLike | None = None, draws: int = DRAWS
    ) -> ActionProbabilities:
        """Return the probability of each graph, which is exact; see `agents.contract.PlayForecaster`."""
        self.look_at(observation)
        values = self.probabilities(read_mask(action_mask, self.num_graphs)).numpy()
        return ActionProbabilities(values, np.zeros(len(values)))
