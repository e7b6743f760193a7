"""Censored results and results with known measurement noise."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from agents.beliefs.rewards.history import History
from agents.contract.protocol import State

COLUMNS = ("graphs", "values", "sides", "deviations")

Table = TypeVar("Table", bound=NamedTuple)
"""Tensors of equal length, as columns."""


def stack(tables: Sequence[Table]) -> Table:
    """Concatenate the rows of at least one table."""
    return tables[0]._make(torch.cat(columns) for columns in zip(*tables, strict=True))


def thin_out(table: Table, most: int) -> Table:
    """Return at most `most` rows of a table, evenly spaced."""
    if len(table[0]) <= most:
        return table
    chosen = torch.linspace(0, len(table[0]) - 1, most, dtype=torch.float64).round().long()
    return table._make(column[chosen] for column in table)


class Bounds(NamedTuple):
    """The tightest bounds of graphs, at most one on each side: first lower bounds, then upper bounds."""

    graphs: Tensor
    """`(m,)` int64."""
    values: Tensor
    """`(m,)` float64."""
    signs: Tensor
    """`(m,)` float64. 1 for a result that lies above its bound, -1 for one that lies below."""


class PartialResults:
    """A table of bounds and of results with known measurement noise, in order of arrival.

    Args:
        num_graphs: K.

    Attributes:
        graphs: `(n,)` int64.
        values: `(n,)` float64. The results, or the bounds.
        sides: `(n,)` int64. 1 if a result lies above the value, -1 if it lies below, 0 if it equals the value.
        deviations: `(n,)` float64. Standard deviation of the measurement noise, ignored for bounds.
    """

    def __init__(self, num_graphs: int) -> None:
        self._num_graphs = num_graphs
        self.graphs, self.sides = torch.zeros(2, 0, dtype=torch.int64)
        self.values, self.deviations = torch.zeros(2, 0, dtype=torch.float64)

    def __len__(self) -> int:
        return len(self.graphs)

    def add(self, graphs: Tensor, values: Tensor, sides: Tensor, deviations: Tensor) -> None:
        """Add rows `(n,)`."""
        for name, more in zip(COLUMNS, (graphs, values, sides, deviations), strict=True):
            setattr(self, name, torch.cat([getattr(self, name), more]))

    def exchange(self, kept: Tensor, added: int) -> None:
        """Change the graphs, and drop the results of graphs outside the slots `kept` `(n,)`."""
        new_slots = torch.full((self._num_graphs,), -1, dtype=torch.int64)
        new_slots[kept] = torch.arange(len(kept))
        stays = new_slots[self.graphs] >= 0
        for name in COLUMNS:
            setattr(self, name, getattr(self, name)[stays])
        self.graphs, self._num_graphs = new_slots[self.graphs], len(kept) + added

    @property
    def bounds(self) -> Bounds:
        """Return the tightest bounds."""
        sides = []
        for sign, reduce in ((1, "amax"), (-1, "amin")):
            of_side = self.sides == sign
            tightest = torch.full((self._num_graphs,), -sign * torch.inf, dtype=torch.float64)
            tightest.scatter_reduce_(0, self.graphs[of_side], self.values[of_side], reduce)
            graphs = tightest.isfinite().nonzero().squeeze(1)
            sides.append(Bounds(graphs, tightest[graphs], torch.full((len(graphs),), sign, dtype=torch.float64)))
        return stack(sides)

    def intervals(self, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Return the interval of each graph that has only bounds, `(n,)` float64 each.

        Contradictory bounds are swapped: the graph lies near both.

        Args:
            counts: `(K,)`. Number of exact results of each graph.
        """
        bounds, ends = self.bounds, torch.tensor([[-torch.inf], [torch.inf]]).double().repeat(1, len(counts))
        ends[(bounds.signs < 0).long(), bounds.graphs] = bounds.values
        low, high = ends[:, ends.isfinite().any(0) & (counts == 0)]
        return torch.minimum(low, high), torch.maximum(low, high)

    def merge(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return one result for each graph that summarises its results with known noise.

        y = sum_j p_j y_j / sum_j p_j,   deviation = 1 / sqrt(sum_j p_j),   p_j = 1 / s_j^2

        Returns:
            `(m,)` each. Graphs, int64, in the order of the set. Values y, float64, in reward units. Standard deviations
            of their measurement noise, float64, in reward units.
        """
        exact = self.sides == 0
        deviations, values = self.deviations[exact], self.values[exact]
        graphs, row = self.graphs[exact].unique(return_inverse=True)
        zeros = torch.zeros(len(graphs), dtype=torch.float64)
        least = (zeros + torch.inf).scatter_reduce(0, row, deviations, "amin")
        shares = (least[row] / deviations).square()  # relative to the most precise one, to avoid overflow
        total = zeros.index_add(0, row, shares)
        return graphs, zeros.index_add(0, row, shares / total[row] * values), least / total.sqrt()

    def join(self, history: History) -> History:
        """Merge the results with known noise into a history. Without any, return the same history."""
        graphs, values, _ = self.merge()
        if not len(graphs):
            return history
        joined = copy.deepcopy(history)
        joined.add(graphs, values)
        return joined

    def state_dict(self) -> State:
        """Return all rows."""
        return {name: getattr(self, name).clone() for name in COLUMNS}

    def load_state_dict(self, state: State) -> None:
        """Replace all rows."""
        for name in COLUMNS:
            setattr(self, name, state[name].clone())
