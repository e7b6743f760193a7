"""What has been observed: the sequence, and per graph what the squared loss needs of it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class History:
    """Rewards by graph and in order.

    Attributes:
        counts: `(K,)` int64. Pulls of each graph.
        means: `(K,)` float64. Mean reward of each graph so far; 0 where it was never played.
        actions: `(t,)` int64, in order.
        rewards: `(t,)` float64, in order.
    """

    def __init__(self, num_graphs: int) -> None:
        self.counts = torch.zeros(num_graphs, dtype=torch.int64)
        self.means = torch.zeros(num_graphs, dtype=torch.float64)
        self._actions: list[int] = []
        self._rewards: list[float] = []

    def __len__(self) -> int:
        return len(self._actions)

    @property
    def actions(self) -> Tensor:
        """Return the graphs played, in order."""
        return torch.tensor(self._actions, dtype=torch.int64)

    @property
    def rewards(self) -> Tensor:
        """Return the rewards observed, in order."""
        return torch.tensor(self._rewards, dtype=torch.float64)

    def add(self, actions: Tensor, rewards: Tensor) -> None:
        """Take in `(n,)` actions and `(n,)` finite rewards."""
        for action, reward in zip(actions.tolist(), rewards.tolist(), strict=True):
            self.counts[action] += 1
            self.means[action] += (reward - self.means[action]) / self.counts[action]
            self._actions.append(action)
            self._rewards.append(reward)

    def location_and_scale(self) -> tuple[float, float]:
        """Return mean and standard deviation, over distinct graphs played, of their mean rewards.

        Unweighted: weighted by pulls, the deviation would shrink while the agent exploits. The scale is 1 until two
        graphs differ.
        """
        seen = self.means[self.counts > 0]
        if len(seen) == 0:
            return 0.0, 1.0
        location, scale = seen.mean().item(), seen.std(correction=0).item()
        return location, scale if scale > 1e-9 * max(1.0, abs(location)) else 1.0

    def state_dict(self) -> dict[str, Any]:
        """Return everything observed."""
        return {
            "counts": self.counts.clone(),
            "means": self.means.clone(),
            "actions": self.actions,
            "rewards": self.rewards,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace everything observed."""
        self.counts, self.means = state["counts"].clone(), state["means"].clone()
        self._actions, self._rewards = state["actions"].tolist(), state["rewards"].tolist()
