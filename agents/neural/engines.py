"""How the paper's network is computed: compiled loops on the CPU at depth 2, torch at any depth and on any device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from gntk import (
    AggregatedGraphs,
    Batches,
    batched_values_and_features,
    descend,
    fused_descend,
    fused_values_and_features,
    fused_values_and_squares,
    layer_inputs,
    pad_graphs,
    predict,
    select_graphs,
    values_and_features,
)

Weights = Sequence[Tensor]
GRAPH_BLOCK = 1 << 16  # graphs x width of a forward pass without features
BLOCK_BYTES = 1 << 26  # of float64 tangent features that are made at a time where not all are held


class Engine(Protocol):
    """Values, tangent features and descent of one network on K graphs. Results are on the CPU, weights on `device`."""

    device: torch.device

    def values(self, weights: Weights) -> Tensor:
        """Return f(G; theta) of all graphs, `(K,)`."""

    def features(self, weights: Weights, index: Tensor) -> Tensor:
        """Return psi of the graphs `index` `(n,)`: `(n, p)`."""

    def values_and_features(self, weights: Weights, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and psi of the graphs `index` `(n,)`: `(n,)` and `(n, p)`."""

    def values_and_squares(self, weights: Weights, precision: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and sum_j psi_j^2 precision_j of all graphs, `(K,)` each."""

    def descend(
        self, weights: Weights, centers: Weights, batches: Batches, learning_rate: float, penalty: float
    ) -> list[Tensor]:
        """Return the weights after a step of gradient descent a batch."""


class CompiledEngine:
    """Single passes over nodes on one core, for two weight matrices."""

    device = torch.device("cpu")

    def __init__(self, graphs: AggregatedGraphs) -> None:
        self.graphs = pad_graphs(graphs)

    def values(self, weights: Weights) -> Tensor:
        """Return f of all graphs."""
        hidden, last = weights
        return fused_values_and_squares(weights, self.graphs, torch.zeros(hidden.numel() + last.numel()))[0]

    def features(self, weights: Weights, index: Tensor) -> Tensor:
        """Return psi of some graphs."""
        return fused_values_and_features(weights, self.graphs, index)[1]

    def values_and_features(self, weights: Weights, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and psi of some graphs."""
        return fused_values_and_features(weights, self.graphs, index)

    def values_and_squares(self, weights: Weights, precision: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and the weighted squares of psi of all graphs, without any psi."""
        return fused_values_and_squares(weights, self.graphs, precision)

    def descend(
        self, weights: Weights, centers: Weights, batches: Batches, learning_rate: float, penalty: float
    ) -> list[Tensor]:
        """Return the weights after a step of gradient descent a batch."""
        return fused_descend(weights, centers, self.graphs, batches, learning_rate, penalty)


class TorchEngine:
    """Torch on a device: features graph by graph on the CPU, where each stays in cache; in padded blocks elsewhere.

    Values always come from one kind of pass, so that equal weights give equal values to the last bit.
    """

    def __init__(self, graphs: AggregatedGraphs, device: torch.device, batched: bool) -> None:
        self.graphs, self.device, self._batched = graphs.to(torch.float32, device), device, batched

    def values(self, weights: Weights) -> Tensor:
        """Return f of all graphs, from blocks of nodes."""
        found = []
        for index in torch.arange(len(self.graphs)).split(max(1, GRAPH_BLOCK // max(map(len, weights)))):
            some = select_graphs(self.graphs, index.to(self.device))
            found.append(predict(weights, some, layer_inputs(weights, some.nodes)).cpu())
        return torch.cat(found)

    def features(self, weights: Weights, index: Tensor) -> Tensor:
        """Return psi of some graphs."""
        return self._features(weights, index).cpu()

    def values_and_features(self, weights: Weights, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and psi of some graphs."""
        return self.values(weights)[index], self.features(weights, index)

    def values_and_squares(self, weights: Weights, precision: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and the weighted squares of psi of all graphs, from blocks of psi that stay on the device."""
        precision = precision.to(self.device, torch.float64)
        blocks = blocks_of_graphs(len(self.graphs), len(precision))
        squares = [(self._features(weights, index).double().square() @ precision).cpu() for index in blocks]
        return self.values(weights), torch.cat(squares)

    def descend(
        self, weights: Weights, centers: Weights, batches: Batches, learning_rate: float, penalty: float
    ) -> list[Tensor]:
        """Return the weights after a step of gradient descent a batch."""
        return descend(weights, centers, self.graphs, batches.to(self.device), learning_rate, penalty)

    def _features(self, weights: Weights, index: Tensor) -> Tensor:
        if self._batched:
            return batched_values_and_features(weights, self.graphs, index)[1]
        return values_and_features(weights, select_graphs(self.graphs, index.to(self.device)))[1]


def choose_engine(graphs: AggregatedGraphs, depth: int, device: str) -> Engine:
    """Return the fastest engine for a depth on a device.

    Raises:
        ValueError: if torch has no such device here.
    """
    where = read_device(device)
    if where.type == "cpu":
        return CompiledEngine(graphs) if depth == 2 else TorchEngine(graphs, where, batched=False)
    return TorchEngine(graphs, where, batched=True)


def read_device(name: str) -> torch.device:
    """Return a torch device that can be used here.

    Raises:
        ValueError: if it cannot; the message says what torch sees.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # "meta" has no numbers
    except (RuntimeError, AssertionError) as error:  # torch built without CUDA asserts
        found = [f"cuda:{k}" for k in range(torch.cuda.device_count())]
        raise ValueError(
            f"Expected `device` to be one that torch can use here: {', '.join(['cpu', *found])}. Got {name!r}: {error}"
        ) from error
    return device


def blocks_of_graphs(num_graphs: int, num_features: int) -> tuple[Tensor, ...]:
    """Cut the graphs into blocks whose float64 tangent features take at most `BLOCK_BYTES`."""
    size = max(1, BLOCK_BYTES // (8 * num_features))
    blocks: tuple[Tensor, ...] = torch.arange(num_graphs).split(size)
    return blocks
