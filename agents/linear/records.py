"""Keep sums over all rewards that a linear agent was told, over the last ones, or with weights that decay."""

from __future__ import annotations

import torch
from torch import Tensor

from agents.beliefs.rewards.recency import Forget
from agents.contract.protocol import State
from agents.linear.regression import Sums


class Record:
    """The sums over all rewards.

    Args:
        num_features: p.

    Attributes:
        sums: the sums that the posterior is made from.
        told: the number of rewards told, those that are forgotten included.
    """

    def __init__(self, num_features: int) -> None:
        self.sums = Sums.empty(num_features)
        self.told = 0

    def add(self, features: Tensor, rewards: Tensor) -> None:
        """Add rewards `(n,)` float64 of graphs with features `(n, p)` float64."""
        self.told += len(rewards)
        sums = self.sums if self.sums.rounds else Sums.empty(len(self.sums.gram), origin=float(rewards[0]))
        self.sums = sums.add(features, rewards)

    def count_from(self, location: float) -> None:
        """Take in the present mean of the rewards; sums over all rewards keep their first origin."""

    def state(self) -> State:
        """Return the sums."""
        return {"sums": vars(self.sums).copy()}

    def restore(self, state: State) -> None:
        """Continue with the sums of a state.

        Raises:
            ValueError: if a state is none that `state` can have returned.
        """
        self.sums = Sums(**state["sums"])
        self.told = int(self.sums.rounds)


class DiscountedRecord(Record):
    """Sums in which the reward told d rewards ago has the weight gamma^d      [Russac et al. 2019].

        A <- gamma A + phi phi^T,   b <- gamma b + y phi

    Rounding errors decay like the weights. The posterior is the one in which that reward has the noise variance
    n / gamma^d.

    Args:
        num_features: p.
        discount: gamma, between 0 and 1.
    """

    def __init__(self, num_features: int, discount: float) -> None:
        super().__init__(num_features)
        self.discount = discount

    def add(self, features: Tensor, rewards: Tensor) -> None:
        """Add rewards `(n,)` float64 of graphs with features `(n, p)` float64, one after the other."""
        for row, reward in zip(features.split(1), rewards.split(1), strict=True):
            self.sums = self.sums.times(self.discount)
            super().add(row, reward)

    def count_from(self, location: float) -> None:
        """Count rewards from their present mean: squares of rewards that drifted far from the first lose digits."""
        self.sums = self.sums.counted_from(location)

    def state(self) -> State:
        """Return the sums, and how many rewards were told."""
        return {**super().state(), "told": self.told}

    def restore(self, state: State) -> None:
        """Continue with the sums of a state."""
        super().restore(state)
        self.told = state["told"]


class WindowRecord(Record):
    """Sums over the last W rewards, made again from these at each update.

    Subtracting what leaves the window would cost less, but what is rounded off would stay for ever.

    Args:
        num_features: p.
        length: W.
    """

    def __init__(self, num_features: int, length: int) -> None:
        super().__init__(num_features)
        self.length = length
        self._features, self._rewards = self.sums.gram[:0], self.sums.products[:0]

    def add(self, features: Tensor, rewards: Tensor) -> None:
        """Add rewards `(n,)` float64 of graphs with features `(n, p)` float64, and forget those before the last W."""
        self.told += len(rewards)
        self._features = torch.cat([self._features, features])[-self.length :]
        self._rewards = torch.cat([self._rewards, rewards])[-self.length :]
        self._sum_up()

    def state(self) -> State:
        """Return features and rewards in the window, and how many rewards were told."""
        window = {"features": self._features.clone(), "rewards": self._rewards.clone()}
        return {**window, "told": self.told}

    def restore(self, state: State) -> None:
        """Continue with features and rewards of a state.

        Raises:
            ValueError: if their numbers differ, or are not those in the window.
        """
        features, rewards, told = state["features"], state["rewards"], state["told"]
        if not len(features) == len(rewards) == min(told, self.length):
            raise ValueError(f"Expected features and rewards of the last {min(told, self.length)} rounds.")
        self._features, self._rewards, self.told = features.clone(), rewards.clone(), told
        self._sum_up()

    def _sum_up(self) -> None:
        empty = Sums.empty(self._features.shape[1], origin=float(self._rewards[0]) if len(self._rewards) else 0.0)
        self.sums = empty.add(self._features, self._rewards)


def make_record(num_features: int, forget: Forget) -> Record:
    """Return an empty record that forgets like this."""
    if forget is None:
        return Record(num_features)
    return WindowRecord(num_features, forget) if isinstance(forget, int) else DiscountedRecord(num_features, forget)
