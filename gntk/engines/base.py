"""Interface of a network on the graphs of a set, plain gradient descent, and shared code for the paper's network."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from gntk.aggregation import AggregatedGraphs, select_graphs
from gntk.network import weighted_gradient


@dataclass(frozen=True, eq=False)
class Batches:
    """Hold the batches of a descent, one after the other.

    Attributes:
        index: `(n,)` int64. Graphs, with repeats allowed.
        targets: `(n,)` floating point. y of each graph.
        offsets: `(S + 1,)` int64. The entries of batch s are `offsets[s]:offsets[s + 1]`, at least one.
    """

    index: Tensor
    targets: Tensor
    offsets: Tensor

    @classmethod
    def of_size(cls, index: Tensor, targets: Tensor, size: int) -> Batches:
        """Split `(n,)` graphs and targets into batches of `size`. The last batch may be smaller."""
        offsets = torch.arange(0, len(index) + size, size).clamp(max=len(index))
        return cls(index, targets, offsets)

    def to(self, device: torch.device) -> Batches:
        """Return the same batches with index and targets on a device."""
        return Batches(self.index.to(device), self.targets.to(device), self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        sizes = self.offsets.diff().tolist()
        return zip(self.index.split(sizes), self.targets.split(sizes), strict=True)


def descend(
    weights: Sequence[Tensor],
    centers: Sequence[Tensor],
    graphs: AggregatedGraphs,
    batches: Batches,
    learning_rate: float,
    penalty: float,
) -> list[Tensor]:
    """Take one step of gradient descent per batch.

        theta <- theta - eta ((1/b) sum_{G in batch} (f(G) - y_G) psi(G) + c (theta - theta_c))

    Args:
        weights: theta, L matrices, not changed.
        centers: theta_c, of the same shapes.
        graphs: K graphs.
        batches: batches of indices of these graphs.
        learning_rate: eta.
        penalty: c.

    Returns:
        theta after the last batch.
    """
    moved = [weight.clone() for weight in weights]
    for index, targets in batches:
        _, gradients = weighted_gradient(moved, select_graphs(graphs, index), targets.to(graphs.nodes.dtype))
        for weight, gradient, center in zip(moved, gradients, centers, strict=True):
            weight -= learning_rate * (gradient / len(index) + penalty * (weight - center))
    return moved


Weights = Sequence[Tensor]
"""theta, as a list of tensors on the device of the network."""
Gradient = Literal["all", "last_layer"]
"""Weights with respect to which tangent features are derivatives: all, or those of the last layer."""


class Network(Protocol):
    """A network on the K graphs of a set, as a function of its weights.

    The weights theta are a list of tensors on `device`. Results are on the CPU.

    Attributes:
        device: device on which the network computes.
        initial: theta_0, at which every prediction is exactly 0.
        num_graphs: K.
        num_features: p, number of tangent features of a graph.
    """

    device: torch.device
    initial: list[Tensor]
    num_graphs: int
    num_features: int

    def to_device(self, weights: Weights) -> list[Tensor]:
        """Copy weights to the device on which the network computes."""
        return [weight.to(self.device, copy=True) for weight in weights]

    @abstractmethod
    def start_at(self, initial: Weights, constants: Mapping[str, Tensor]) -> None:
        """Replace the initial weights and the constants by those of a saved state."""

    @abstractmethod
    def exchange(self, graphs: Any) -> None:
        """Replace the graphs, in the format of the constructor, and keep the weights."""

    @abstractmethod
    def constants(self) -> dict[str, Tensor]:
        """Return the data needed in addition to the weights, for a saved state."""

    @abstractmethod
    def fingerprint(self) -> list[Tensor]:
        """Return tensors that identify the graphs, so that a state saved on other graphs is recognised."""

    @abstractmethod
    def values(self, weights: Weights) -> Tensor:
        """Return f(G; theta) of all graphs, `(K,)`. Equal weights give exactly equal values."""

    @abstractmethod
    def features(self, weights: Weights, index: Tensor) -> Tensor:
        """Return psi of the graphs `index` `(n,)`: `(n, p)`. The order of the p features never changes."""

    def values_and_features(self, weights: Weights, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and psi of the graphs `index` `(n,)`: `(n,)` and `(n, p)`."""
        return self.values(weights)[index], self.features(weights, index)

    @abstractmethod
    def values_and_squares(self, weights: Weights, precision: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and sum_j psi_j^2 precision_j of all graphs, `(K,)` each, in bounded memory."""

    @abstractmethod
    def descend(
        self, weights: Weights, centers: Weights, batches: Batches, learning_rate: float, penalty: float
    ) -> list[Tensor]:
        """Return the weights after one step of gradient descent per batch (see `gntk.engines.descend`)."""


class PaperNetwork(Network):
    """The paper's network: its start, and the weights with respect to which its tangent features are derivatives.

    The two halves of `gntk.GraphMLP` cancel at theta_0 only up to rounding, but ties must be exact. Each subclass
    therefore subtracts `_rounding`, the values left over at theta_0, from the values that it computes. It returns the
    features starting at `_first_feature`.

    Args:
        graphs: K graphs, aggregated.
        initial: theta_0, of a `gntk.GraphMLP` that starts at zero.
        gradient: differentiate with respect to all weights, or to those of the last layer.
        device: device on which the network computes.
    """

    def __init__(self, graphs: AggregatedGraphs, initial: Weights, gradient: Gradient, device: torch.device) -> None:
        self.device = device
        self._take(graphs)
        sizes = [weight.numel() for weight in initial]
        self._first_feature = sum(sizes[:-1]) if gradient == "last_layer" else 0
        self.num_features = sum(sizes) - self._first_feature
        self.start_at(initial)

    def start_at(self, initial: Weights, constants: Mapping[str, Tensor] | None = None) -> None:
        """Replace the initial weights. This network has no constants."""
        self.initial = self.to_device(initial)
        self._find_rounding()

    def exchange(self, graphs: AggregatedGraphs) -> None:
        """Replace the graphs, and keep the weights."""
        self._take(graphs)
        self._find_rounding()

    def _take(self, graphs: AggregatedGraphs) -> None:
        self.graphs, self.num_graphs = graphs.to(torch.float32), len(graphs)

    def _find_rounding(self) -> None:
        self._rounding = torch.zeros(self.num_graphs)
        self._rounding = self.values(self.initial)

    def constants(self) -> dict[str, Tensor]:
        """Return an empty dict."""
        return {}

    def fingerprint(self) -> list[Tensor]:
        """Return the aggregated graphs."""
        return [self.graphs.nodes, self.graphs.offsets, self.graphs.divisors]

    def _of_all_weights(self, precision: Tensor) -> Tensor:
        """Return a precision for each weight, 0 for the weights excluded from the features."""
        return torch.nn.functional.pad(precision, (self._first_feature, 0))
