"""Uniform random play: the yardstick of every table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import ArrayLike

from agents.contract.inputs import check_reset, derive_streams, masked_argmax, read_feedback, read_graphs, read_mask
from agents.contract.settings import read_settings
from agents.contract.state import check_identity, make_identity


@dataclass(frozen=True)
class RandomSettings:
    """Settings of random play: there are none."""


class RandomAgent:
    """Play each allowed graph with the same probability; learn nothing."""

    def __init__(self, settings: RandomSettings) -> None:
        self.settings = settings

    def reset(self, observation: Any, seed: int = 0, graph_set: Any = None) -> None:
        """Count the graphs and seed the generator."""
        self._num_graphs = read_graphs(observation, graph_set).num_graphs
        _, self._generator = derive_streams(seed)

    def select_action(self, observation: Any, action_mask: ArrayLike | None = None) -> int:
        """Return any allowed graph: all tie."""
        check_reset(self, "_num_graphs")
        mask = read_mask(action_mask, self._num_graphs)
        return masked_argmax(torch.zeros(self._num_graphs), mask, self._generator)

    def update(self, observation: Any, action: ArrayLike, reward: ArrayLike) -> None:
        """Check the reward as every agent does, and forget it."""
        check_reset(self, "_num_graphs")
        read_feedback(action, reward, self._num_graphs)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the generator."""
        return {"identity": self._identity(), "generator": self._generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state of the generator.

        Raises:
            ValueError: if the state is of another agent or number of graphs.
        """
        check_identity(state, self._identity(), ["generator"])
        self._generator.set_state(state["generator"])

    def _identity(self) -> dict[str, Any]:
        check_reset(self, "_num_graphs")
        return make_identity(self.settings, [torch.tensor(self._num_graphs)])


def random(**settings: Any) -> RandomAgent:
    """Make uniform random play."""
    return RandomAgent(read_settings(RandomSettings, settings))
