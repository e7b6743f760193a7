"""Let earlier rewards count less, or no longer, so that an agent can follow mean rewards that drift."""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor

from agents.beliefs.rewards.history import History
from agents.beliefs.rules.rule import AcquisitionRule
from agents.contract.protocol import State

Forget: TypeAlias = int | float | None
"""The number of rewards that count, the last ones; or the factor by which each reward told lets the earlier ones count
less; or None: all rewards count alike."""
NEGLIGIBLE = 1e-9  # a graph whose rewards count less in sum is as good as never played


def make_history(num_graphs: int, forget: Forget) -> History:
    """Return an empty history of K graphs that forgets like this."""
    if forget is None:
        return History(num_graphs)
    return WindowHistory(num_graphs, forget) if isinstance(forget, int) else DiscountedHistory(num_graphs, forget)


def check_rule(rule: AcquisitionRule, forget: Forget) -> None:
    """Refuse to forget rewards under a rule that never returns to some graphs.

    Raises:
        ValueError: if the rule eliminates graphs, and rewards are forgotten.
    """
    if forget is not None and getattr(rule, "eliminates", False):
        raise ValueError(
            f"Expected `forget` to be None, because {type(rule).__name__} never plays a graph again that it has "
            f"eliminated, however good it becomes. Got {forget!r}. Use another rule, such as that of `gntk-ucb`."
        )


class DiscountedHistory(History):
    """A history in which the reward told d rewards ago counts gamma^d      [Garivier & Moulines 2011].

    Counts are sums of weights, means and squares are weighted; their sums decay with each reward, which no rounding
    error survives. A graph whose count is below `NEGLIGIBLE` counts as never played.

    Args:
        num_graphs: K.
        discount: gamma, between 0 and 1.

    Attributes:
        counts: `(K,)` float64. Sum of the weights of each graph's rewards.
    """

    def __init__(self, num_graphs: int, discount: float) -> None:
        super().__init__(num_graphs)
        self.counts = self.counts.double()
        self.discount = discount
        self._told = 0

    @property
    def num_results(self) -> int:
        """Return the number of rewards told, those of graphs that did not stay included."""
        return self._told

    def add(self, actions: Tensor, rewards: Tensor) -> None:
        """Add `(n,)` actions and their `(n,)` finite rewards; each lets those before it count less."""
        self._told += len(rewards)
        for action, reward in zip(actions.split(1), rewards.split(1), strict=True):
            self.counts *= self.discount
            self.squares *= self.discount
            remembered = self.counts >= NEGLIGIBLE
            for values in (self.counts, self.means, self.squares):
                values *= remembered
            self.seen = self.seen[remembered[self.seen]]
            super().add(action, reward)

    def _mean_and_deviation(self, seen: Tensor) -> tuple[float, float]:
        weights = self.counts[self.seen].clamp(max=1)  # a graph weighs less once less than one reward is left of it
        weights = weights / weights.sum()
        location = (weights * seen).sum()
        return location.item(), (weights * (seen - location) ** 2).sum().sqrt().item()

    def state_dict(self) -> State:
        """Return what is remembered, and how many rewards were told."""
        return {**super().state_dict(), "told": self._told}

    def load_state_dict(self, state: State) -> None:
        """Replace what is remembered."""
        super().load_state_dict(state)
        self._told = state["told"]


class WindowHistory(History):
    """A history of the last W rewards      [Garivier & Moulines 2011].

    Counts, means and squares are computed from these rewards again whenever one is added, in O(W + K). Subtracting
    those that leave would be quicker, but what is rounded off would stay for ever: after rewards of 1e8, means of small
    rewards would never be right again.

    Args:
        num_graphs: K.
        length: W.

    Attributes:
        actions: `(n,)` int64. The graphs of the rewards that are remembered, in order; n <= W.
        rewards: `(n,)` float64. The rewards.
        times: `(n,)` int64. Number of rewards told before each. Graphs that did not stay leave gaps, so that other
            rewards keep their age.
    """

    def __init__(self, num_graphs: int, length: int) -> None:
        super().__init__(num_graphs)
        self.length = length
        self.actions, self.times = torch.zeros(2, 0, dtype=torch.int64).unbind()
        self.rewards = torch.zeros(0, dtype=torch.float64)
        self._told = 0

    @property
    def num_results(self) -> int:
        """Return the number of rewards told, those that are forgotten included."""
        return self._told

    def add(self, actions: Tensor, rewards: Tensor) -> None:
        """Add `(n,)` actions and their `(n,)` finite rewards, and forget those before the last W."""
        times = torch.cat([self.times, torch.arange(self._told, self._told + len(rewards))])
        self._told += len(rewards)
        stays = times >= self._told - self.length
        self.times = times[stays]
        self.actions = torch.cat([self.actions, actions])[stays]
        self.rewards = torch.cat([self.rewards, rewards.double()])[stays]
        self._sum_up()

    def exchange(self, kept: Tensor, added: int) -> None:
        """Go on with other graphs, without the rewards of those that do not stay."""
        new_slots = torch.full_like(self.counts, -1)
        new_slots[kept] = torch.arange(len(kept))
        super().exchange(kept, added)
        stays = new_slots[self.actions] >= 0
        self.actions, self.rewards, self.times = new_slots[self.actions][stays], self.rewards[stays], self.times[stays]

    def state_dict(self) -> State:
        """Return the rewards that are remembered, and how many were told."""
        names = ("actions", "rewards", "times")
        return {**{name: getattr(self, name).clone() for name in names}, "told": self._told}

    def load_state_dict(self, state: State) -> None:
        """Replace what is remembered."""
        self.actions, self.rewards, self.times = (state[name].clone() for name in ("actions", "rewards", "times"))
        self._told = state["told"]
        self._sum_up()

    def _sum_up(self) -> None:
        size = len(self.counts)
        self.counts = torch.bincount(self.actions, minlength=size)
        divisors = self.counts.clamp(min=1)
        self.means = torch.bincount(self.actions, self.rewards, minlength=size) / divisors
        deviations = self.rewards - self.means[self.actions]
        self.squares = torch.bincount(self.actions, deviations**2, minlength=size)
        self.seen = torch.tensor(list(dict.fromkeys(self.actions.tolist())), dtype=torch.int64)
