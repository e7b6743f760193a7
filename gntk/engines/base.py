"""A network on the graphs of a set, as a function of its weights: what is asked of it, and what the paper's share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import torch
from torch import Tensor

from gntk.aggregation import AggregatedGraphs
from gntk.engines.descent import Batches

Weights = Sequence[Tensor]
Gradient = Literal["all", "last_layer"]


class Network(Protocol):
    """A network on the K graphs of a set; `weights` are theta, a list of tensors on `device`. Results are on the CPU.

    Attributes:
        device: where it computes.
        initial: theta_0, at which every prediction is exactly 0.
        num_graphs: K.
        num_features: p, tangent features of a graph.
    """

    device: torch.device
    initial: list[Tensor]
    num_graphs: int
    num_features: int

    def place(self, weights: Weights) -> list[Tensor]:
        """Copy weights to where the network computes."""
        return [weight.to(self.device, copy=True) for weight in weights]

    @abstractmethod
    def start_at(self, initial: Weights, constants: Mapping[str, Tensor]) -> None:
        """Take other initial weights and constants: those of a saved state."""

    @abstractmethod
    def constants(self) -> dict[str, Tensor]:
        """Return what the network computes with beside its weights, and a saved state must bring."""

    @abstractmethod
    def fingerprint(self) -> list[Tensor]:
        """Return what is known of the graphs, by which saved states are told apart."""

    @abstractmethod
    def values(self, weights: Weights) -> Tensor:
        """Return f(G; theta) of all graphs, `(K,)`. Equal weights give equal values to the last bit."""

    @abstractmethod
    def features(self, weights: Weights, index: Tensor) -> Tensor:
        """Return psi of the graphs `index` `(n,)`: `(n, p)`, in an order that never changes."""

    @abstractmethod
    def values_and_features(self, weights: Weights, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and psi of the graphs `index` `(n,)`: `(n,)` and `(n, p)`."""

    @abstractmethod
    def values_and_squares(self, weights: Weights, precision: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and sum_j psi_j^2 precision_j of all graphs, `(K,)` each, in bounded memory."""

    @abstractmethod
    def descend(
        self, weights: Weights, centers: Weights, batches: Batches, learning_rate: float, penalty: float
    ) -> list[Tensor]:
        """Return the weights after a step of gradient descent a batch; see `gntk.engines.descend`."""


class PaperNetwork(Network):
    """The paper's network: where it starts, and which weights its tangent features are derivatives by.

    The two halves of `gntk.GraphMLP` cancel at theta_0 up to rounding. A form of this network takes `_rounding`, which
    is what is left of each value there, from the values that it computes, for ties must be ties; of the features it
    returns those from `_first_feature` on.

    Args:
        graphs: K graphs, aggregated.
        initial: theta_0, of a `gntk.GraphMLP` that starts at zero.
        gradient: by all weights, or by those of the last layer.
        device: where it computes.
    """

    def __init__(self, graphs: AggregatedGraphs, initial: Weights, gradient: Gradient, device: torch.device) -> None:
        self.graphs, self.device = graphs.to(torch.float32), device
        self.num_graphs = len(graphs)
        sizes = [weight.numel() for weight in initial]
        self._first_feature = sum(sizes[:-1]) if gradient == "last_layer" else 0
        self.num_features = sum(sizes) - self._first_feature
        self.start_at(initial)

    def start_at(self, initial: Weights, constants: Mapping[str, Tensor] | None = None) -> None:
        """Take other initial weights; there are no constants."""
        self.initial = self.place(initial)
        self._rounding = torch.zeros(self.num_graphs)
        self._rounding = self.values(self.initial)

    def constants(self) -> dict[str, Tensor]:
        """Return nothing."""
        return {}

    def fingerprint(self) -> list[Tensor]:
        """Return the aggregated graphs."""
        return [self.graphs.nodes, self.graphs.offsets, self.graphs.divisors]

    def _of_all_weights(self, precision: Tensor) -> Tensor:
        """Return a precision for each weight: 0 for those that the features are no derivatives by."""
        return torch.nn.functional.pad(precision, (self._first_feature, 0))
