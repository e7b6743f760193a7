"""Interface of a network on the graphs of a set, and the part that all forms of the paper's network share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from gntk.aggregation import AggregatedGraphs
from gntk.engines.descent import Batches

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
        """Go on with other graphs, in the form in which the network was given its own; the weights stay."""

    @abstractmethod
    def constants(self) -> dict[str, Tensor]:
        """Return what the network needs in addition to its weights; a saved state must contain it."""

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
        """Return the weights after one step of gradient descent per batch; see `gntk.engines.descend`."""


class PaperNetwork(Network):
    """The paper's network: its start, and the weights with respect to which its tangent features are derivatives.

    The two halves of `gntk.GraphMLP` cancel at theta_0 only up to rounding, but ties must be exact. Each subclass
    therefore subtracts `_rounding`, the values left over at theta_0, from the values that it computes. It returns the
    features from `_first_feature` on.

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
        """Replace the initial weights.

        Raises:
            ValueError: if there are constants; this network has none.
        """
        if constants:
            raise ValueError(f"Expected no constants. Got {', '.join(constants)}.")
        self.initial = self.to_device(initial)
        self._find_rounding()

    def exchange(self, graphs: AggregatedGraphs) -> None:
        """Go on with other graphs; the weights stay."""
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
        """Return a precision for each weight: 0 for the weights that the features leave out."""
        return torch.nn.functional.pad(precision, (self._first_feature, 0))
