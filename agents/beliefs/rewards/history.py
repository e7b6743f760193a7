"""Store the rewards observed: their sufficient statistics per graph, and in order for the fits that need it."""

from __future__ import annotations

from itertools import compress

import torch
from torch import Tensor

from agents.contract.protocol import State

RELATIVE_ROUNDING = 1e-12  # differences of rewards below this are rounding errors, relative to the largest rewards
SMALLEST_SCALE = 1e-100  # the square of a smaller one, or what is divided by it, leaves the range of float64


class History:
    """Sufficient statistics of the rewards, in O(K) memory for any t.

    Args:
        num_graphs: K.

    Attributes:
        counts: `(K,)` int64. Pulls of each graph.
        means: `(K,)` float64. Mean of each graph's rewards so far; 0 if it was never played.
        squares: `(K,)` float64. Sum of squared deviations of each graph's rewards from their mean.
        seen: `(q,)` int64. The distinct graphs played, in the order of their first rewards.
    """

    def __init__(self, num_graphs: int) -> None:
        self.counts = torch.zeros(num_graphs, dtype=torch.int64)
        self.means = torch.zeros(num_graphs, dtype=torch.float64)
        self.squares = torch.zeros(num_graphs, dtype=torch.float64)
        self.seen = torch.zeros(0, dtype=torch.int64)

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def num_results(self) -> int:
        """Return the number of rewards told, without those of graphs that did not stay."""
        return len(self)

    @property
    def rounds(self) -> float:
        """Return the sum of the counts."""
        return self.counts.sum().item()

    def add(self, actions: Tensor, rewards: Tensor) -> None:
        """Add `(n,)` actions and their `(n,)` finite rewards."""
        # The same memory in NumPy, where one entry costs a tenth of the time.
        counts, means, squares = self.counts.numpy(), self.means.numpy(), self.squares.numpy()
        new = [action for action in dict.fromkeys(actions.tolist()) if counts[action] == 0]
        if new:
            self.seen = torch.cat([self.seen, torch.tensor(new, dtype=torch.int64)])
        for action, reward in zip(actions.tolist(), rewards.tolist(), strict=True):
            counts[action] += 1
            deviation = reward - means[action]
            means[action] += deviation / counts[action]
            squares[action] += deviation * (reward - means[action])

    def exchange(self, kept: Tensor, added: int) -> None:
        """Go on with other graphs: those of the slots `kept` `(n,)`, then some that were never played."""
        for name in ("counts", "means", "squares"):
            values = getattr(self, name)
            setattr(self, name, torch.cat([values[kept], values.new_zeros(added)]))
        new_slots = dict(zip(kept.tolist(), range(len(kept)), strict=True))
        self.seen = torch.tensor(
            [new_slots[slot] for slot in self.seen.tolist() if slot in new_slots], dtype=torch.int64
        )

    def location_and_scale(self) -> tuple[float, float]:
        """Return mean and standard deviation of the graphs' mean rewards, over the distinct graphs played.

        Graphs are not weighted by pulls, because the deviation would then shrink while the agent exploits. The scale is
        1 until the means of two graphs differ by more than rounding errors, and by enough for its square not to be 0;
        where rounding errors are larger than 1, it is theirs.
        """
        seen = self.means[self.seen]
        if len(seen) == 0:
            return 0.0, 1.0
        location, scale = self._mean_and_deviation(seen)
        return location, scale if scale > self.resolution else max(1.0, self.resolution)

    @property
    def resolution(self) -> float:
        """Return the largest difference of mean rewards that may be a rounding error, or have a square of 0."""
        largest: float = max(self.means[self.seen].abs().max().item(), self.squares.max().item() ** 0.5)
        return max(RELATIVE_ROUNDING * largest, SMALLEST_SCALE)

    def _mean_and_deviation(self, seen: Tensor) -> tuple[float, float]:
        return seen.mean().item(), seen.std(correction=0).item()

    def state_dict(self) -> State:
        """Return everything observed."""
        return {name: getattr(self, name).clone() for name in ("counts", "means", "squares", "seen")}

    def load_state_dict(self, state: State) -> None:
        """Replace everything observed."""
        self.counts, self.means = state["counts"].clone(), state["means"].clone()
        self.squares, self.seen = state["squares"].clone(), state["seen"].clone()


class OrderedHistory(History):
    """A history that also keeps every observation in order, in O(t) memory, for fits that pass over all of them."""

    def __init__(self, num_graphs: int) -> None:
        super().__init__(num_graphs)
        self._actions: list[int] = []
        self._rewards: list[float] = []

    @property
    def actions(self) -> Tensor:
        """Return the graphs played, `(t,)` int64, in order."""
        return torch.tensor(self._actions, dtype=torch.int64)

    @property
    def rewards(self) -> Tensor:
        """Return the rewards observed, `(t,)` float64, in order."""
        return torch.tensor(self._rewards, dtype=torch.float64)

    def add(self, actions: Tensor, rewards: Tensor) -> None:
        """Add `(n,)` actions and their `(n,)` finite rewards."""
        super().add(actions, rewards)
        self._actions += actions.tolist()
        self._rewards += rewards.tolist()

    def exchange(self, kept: Tensor, added: int) -> None:
        """Go on with other graphs, without the observations of those that do not stay."""
        super().exchange(kept, added)
        new_slots = dict(zip(kept.tolist(), range(len(kept)), strict=True))
        stays = [action in new_slots for action in self._actions]
        self._rewards = list(compress(self._rewards, stays))
        self._actions = [new_slots[action] for action in compress(self._actions, stays)]

    def state_dict(self) -> State:
        """Return everything observed."""
        return {**super().state_dict(), "actions": self.actions, "rewards": self.rewards}

    def load_state_dict(self, state: State) -> None:
        """Replace everything observed."""
        super().load_state_dict(state)
        self._actions, self._rewards = state["actions"].tolist(), state["rewards"].tolist()
