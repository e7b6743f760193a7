"""Results whose measuring noise is known."""

from __future__ import annotations

import copy
from typing import NamedTuple

import torch
from torch import Tensor

from agents.beliefs.rewards.history import History
from agents.beliefs.rewards.targets import Targets
from agents.contract.protocol import State

LEAST_UNITS, MOST_UNITS = 1e-9, 1e6  # other standard deviations, in units of the targets, count as these


class NoisyResults:
    """Results with the standard deviation of their measuring noise, in the order in which they came in.

    Args:
        num_graphs: K.
    """

    def __init__(self, num_graphs: int) -> None:
        self._num_graphs = num_graphs
        self.graphs = torch.zeros(0, dtype=torch.int64)
        self.values, self.deviations = torch.zeros(2, 0, dtype=torch.float64)

    def __len__(self) -> int:
        return len(self.graphs)

    def add(self, graphs: Tensor, values: Tensor, deviations: Tensor) -> None:
        """Add `(n,)` graphs, their `(n,)` rewards, and the `(n,)` standard deviations of these."""
        self.graphs = torch.cat([self.graphs, graphs])
        self.values = torch.cat([self.values, values])
        self.deviations = torch.cat([self.deviations, deviations])

    def exchange(self, kept: Tensor, added: int) -> None:
        """Go on with other graphs, without the results of those that are not in the slots `kept` `(n,)`."""
        new_slots = torch.full((self._num_graphs,), -1, dtype=torch.int64)
        new_slots[kept] = torch.arange(len(kept))
        stays = new_slots[self.graphs] >= 0
        self.graphs = new_slots[self.graphs][stays]
        self.values, self.deviations = self.values[stays], self.deviations[stays]
        self._num_graphs = len(kept) + added

    def merge(self) -> MergedResults:
        """Return one result for each graph, which tells all that its results tell.

        y = sum_j p_j y_j / sum_j p_j,   deviation = 1 / sqrt(sum_j p_j),   p_j = 1 / s_j^2
        """
        graphs, row = self.graphs.unique(return_inverse=True)
        zeros = torch.zeros(len(graphs), dtype=torch.float64)
        least = (zeros + torch.inf).scatter_reduce(0, row, self.deviations, "amin")
        shares = (least[row] / self.deviations).square()  # relative to the most precise one, so that none overflows
        total = zeros.index_add(0, row, shares)
        values = zeros.index_add(0, row, shares / total[row] * self.values)
        return MergedResults(graphs, values, least / total.sqrt())

    def join(self, history: History) -> History:
        """Return a history with these results, merged; the same history if there are none."""
        if not len(self):
            return history
        joined, merged = copy.deepcopy(history), self.merge()
        joined.add(merged.graphs, merged.values)
        return joined

    def typical(self, others: int, targets: Targets) -> float:
        """Return the median noise variance of all results, in squared units of the targets.

        Args:
            others: number of results whose measuring noise is not known, which count as 0 here.
            targets: the scale on which rewards are modelled.
        """
        if not len(self):
            return 0.0
        deviations = torch.cat([self.deviations, self.deviations.new_zeros(others)])
        return variances_of(deviations.median().unsqueeze(0), targets).item()

    def state_dict(self) -> State:
        """Return all results."""
        return {name: getattr(self, name).clone() for name in ("graphs", "values", "deviations")}

    def load_state_dict(self, state: State) -> None:
        """Replace all results."""
        self.graphs, self.values = state["graphs"].clone(), state["values"].clone()
        self.deviations = state["deviations"].clone()


class MergedResults(NamedTuple):
    """One result for each of m graphs."""

    graphs: Tensor
    """`(m,)` int64, in the order of the set."""
    values: Tensor
    """`(m,)` float64. In reward units."""
    deviations: Tensor
    """`(m,)` float64. Standard deviation of the measuring noise of each, in reward units."""


def variances_of(deviations: Tensor, targets: Targets) -> Tensor:
    """Return noise variances in squared units of the targets.

    They are converted by the unit of the targets, as the noise that is learnt is, not by the slope at each result:
    normal scores have steep pieces between results that are nearly equal.

    Args:
        deviations: `(n,)` float64. Standard deviations in reward units.
        targets: the scale on which rewards are modelled.
    """
    return (deviations / targets.unit).clamp(LEAST_UNITS, MOST_UNITS).square()
