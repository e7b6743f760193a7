"""Store the observed rewards in order, with the sufficient statistics of each graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch import Tensor

from agents.contract.protocol import State

RELATIVE_ROUNDING = 1e-12  # differences of rewards below this are rounding errors, relative to the largest rewards
SMALLEST_SCALE = 1e-100  # squares of smaller scales, or quotients by them, leave the range of float64
NEGLIGIBLE = 1e-12  # rewards with a smaller weight are dropped

Forget: TypeAlias = int | float | None
"""Weighting of earlier rewards [Garivier & Moulines 2011]. An integer W: only the last W count. A number gamma below 1:
a reward observed d rewards ago has weight gamma^d. None: all rewards have equal weight."""


class History:
    """The observed rewards and their sufficient statistics.

    Args:
        num_graphs: K.
        forget: weighting of earlier rewards.

    Attributes:
        counts: `(K,)` int64. Pulls of each graph, or float64 sums of the weights of its rewards if these differ.
        means: `(K,)` float64. Mean of each graph's rewards so far, or 0 if it has none.
        squares: `(K,)` float64. Sum of squared deviations of each graph's rewards from their mean.
        seen: `(q,)` int64. The distinct graphs with rewards that count, in the order of their first rewards.
        num_results: number of rewards observed. Unless rewards are forgotten, those of removed graphs are excluded.
    """

    def __init__(self, num_graphs: int, forget: Forget = None) -> None:
        self.forget, self._size = forget, num_graphs
        self._clear()

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def rounds(self) -> float:
        """Return the sum of the counts."""
        return float(self.counts.sum())

    @property
    def actions(self) -> Tensor:
        """Return the graphs of the rewards that count, `(t,)` int64, in order."""
        return torch.tensor(self._actions, dtype=torch.int64)

    @property
    def rewards(self) -> Tensor:
        """Return the rewards that count, `(t,)` float64, in order."""
        return torch.tensor(self._rewards, dtype=torch.float64)

    def add(self, actions: Tensor, rewards: Tensor) -> None:
        """Add `(n,)` actions and their `(n,)` finite rewards."""
        told = self.num_results + len(actions)
        self._append(actions.tolist(), rewards.tolist(), range(self.num_results, told), told)

    def exchange(self, kept: Tensor, added: int) -> None:
        """Keep the graphs in the slots `kept` `(n,)`, then append graphs that were never played.

        Remaining rewards keep their age.
        """
        new_slots = dict(zip(kept.tolist(), range(len(kept)), strict=True))
        rows = zip(self._actions, self._rewards, self._times, strict=True)
        stays = [(new_slots[action], reward, time) for action, reward, time in rows if action in new_slots]
        told, self._size = len(stays) if self.forget is None else self.num_results, len(kept) + added
        self._clear()
        self._append([row[0] for row in stays], [row[1] for row in stays], [row[2] for row in stays], told)

    def location_and_scale(self) -> tuple[float, float]:
        """Return mean and standard deviation of the graphs' mean rewards, over the distinct graphs played.

        Graphs are not weighted by pulls, because the deviation would then shrink while the agent exploits. A graph's
        weight decreases only when its remaining rewards weigh less than one. The scale is 1 until the means of two
        graphs differ by more than rounding errors, and by enough for a nonzero square. If rounding errors exceed 1,
        they define the scale.
        """
        seen = self.means[self.seen]
        if len(seen) == 0:
            return 0.0, 1.0
        if self.forget is None:
            location, scale = seen.mean(), seen.std(correction=0)
        else:
            weights = self.counts[self.seen].clamp(max=1)
            weights = weights / weights.sum()
            location = (weights * seen).sum()
            scale = (weights * (seen - location) ** 2).sum().sqrt()
        return location.item(), scale.item() if scale > self.resolution else max(1.0, self.resolution)

    @property
    def resolution(self) -> float:
        """Return the largest difference of mean rewards that may be a rounding error, or have a square of 0."""
        largest: float = max(self.means[self.seen].abs().max().item(), self.squares.max().item() ** 0.5)
        return max(RELATIVE_ROUNDING * largest, SMALLEST_SCALE)

    def state_dict(self) -> State:
        """Return everything observed."""
        times = torch.tensor(self._times, dtype=torch.int64)
        return {"actions": self.actions, "rewards": self.rewards, "times": times, "told": self.num_results}

    def load_state_dict(self, state: State) -> None:
        """Replace everything observed."""
        self._clear()
        self._append(state["actions"].tolist(), state["rewards"].tolist(), state["times"].tolist(), state["told"])

    def _clear(self) -> None:
        self.counts, self.seen = torch.zeros(self._size, dtype=torch.int64), torch.zeros(0, dtype=torch.int64)
        self.means: Tensor = torch.zeros(self._size, dtype=torch.float64)
        self.squares: Tensor = torch.zeros(self._size, dtype=torch.float64)
        self._actions, self._rewards, self._times = list[int](), list[float](), list[int]()
        self.num_results = 0

    def _append(self, actions: list[int], rewards: list[float], times: Sequence[int], told: int) -> None:
        """Add rewards observed at some times, the last of `told` rewards."""
        self._actions += actions
        self._rewards += rewards
        self._times += times
        self.num_results = told
        if self.forget is not None:
            self._sum_up(self.forget)
            return
        # The same memory in NumPy, where one entry costs a tenth of the time.
        counts, means, squares = self.counts.numpy(), self.means.numpy(), self.squares.numpy()
        new = [action for action in dict.fromkeys(actions) if counts[action] == 0]
        if new:
            self.seen = torch.cat([self.seen, torch.tensor(new, dtype=torch.int64)])
        for action, reward in zip(actions, rewards, strict=True):
            counts[action] += 1
            deviation = reward - means[action]
            means[action] += deviation / counts[action]
            squares[action] += deviation * (reward - means[action])

    def _sum_up(self, forget: float) -> None:
        """Recompute all statistics from the rewards that count, so that rounding errors do not accumulate."""
        ages = self.num_results - 1 - torch.tensor(self._times, dtype=torch.float64)
        weights = (ages < forget).double() if isinstance(forget, int) else forget**ages
        stays = weights > NEGLIGIBLE
        weights, actions, rewards = weights[stays], self.actions[stays], self.rewards[stays]
        self._actions, self._rewards = actions.tolist(), rewards.tolist()
        self._times = torch.tensor(self._times)[stays].tolist()
        self.counts = actions.bincount(weights, self._size)
        self.means = actions.bincount(weights * rewards, self._size) / self.counts.where(self.counts > 0, 1.0)
        self.squares = actions.bincount(weights * (rewards - self.means[actions]) ** 2, self._size)
        self.seen = torch.tensor([*dict.fromkeys(self._actions)], dtype=torch.int64)
