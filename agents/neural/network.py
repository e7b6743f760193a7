"""The network of a neural agent, as a function of its weights: what agents ask of it, and the paper's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import torch
from torch import Tensor
from torch_geometric.data import Batch

from agents.neural.settings import NeuralSettings
from gntk import (
    AggregatedGraphs,
    Batches,
    GraphMLP,
    aggregate_neighbours,
    descend,
    fused_descend,
    fused_values_and_features,
    fused_values_and_squares,
    keep_nodes,
    pad_graphs,
    select_graphs,
    values_and_features,
)

BLOCK_BYTES = 1 << 26  # of tangent features that are made at a time where not all are held

Weights = Sequence[Tensor]


class Network(Protocol):
    """A network on the K graphs of a set; `weights` are theta, a list of tensors.

    Attributes:
        initial: theta_0, at which every prediction is exactly 0.
        num_graphs: K.
        num_features: p, tangent features of a graph.
    """

    initial: list[Tensor]
    num_graphs: int
    num_features: int

    def start_at(self, initial: Weights) -> None:
        """Take other initial weights: those of a saved state."""

    def fingerprint(self) -> list[Tensor]:
        """Return what is known of the graphs, by which saved states are told apart."""

    def values(self, weights: Weights) -> Tensor:
        """Return f(G; theta) of all graphs, `(K,)`."""

    def values_and_features(self, weights: Weights, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and psi of the graphs `index` `(n,)`: `(n,)` and `(n, p)`, in an order that never changes."""

    def values_and_squares(self, weights: Weights, precision: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and sum_j psi_j^2 precision_j of all graphs, `(K,)` each, in bounded memory."""

    def descend(
        self, weights: Weights, centers: Weights, batches: Batches, learning_rate: float, penalty: float
    ) -> list[Tensor]:
        """Return the weights after a step of gradient descent a batch; see `gntk.descend`."""


NetworkBuilder = Callable[[Batch, NeuralSettings, int], Network]


class PaperNetwork:
    """The network of the paper on aggregated nodes; compiled at depth 2, in torch at any other.

    Args:
        graphs: K graphs.
        settings: of width, depth, and which weights the tangent features are derivatives by.
        seed: of the initial weights.
    """

    def __init__(self, graphs: AggregatedGraphs, settings: NeuralSettings, seed: int) -> None:
        self.graphs = graphs.to(torch.float32)
        self.num_graphs = len(graphs)
        model = GraphMLP(graphs.feature_dim, settings.width, settings.depth, seed=seed)
        self.initial = [weight.detach() for weight in model.weights]
        sizes = [weight.numel() for weight in self.initial]
        self._last_only = settings.gradient == "last_layer"
        self._first_feature = sum(sizes[:-1]) if self._last_only else 0
        self.num_features = sum(sizes) - self._first_feature
        self._padded = pad_graphs(self.graphs) if settings.depth == 2 else None
        self.start_at(self.initial)

    def start_at(self, initial: Weights) -> None:
        """Take other initial weights."""
        self.initial = [weight.clone() for weight in initial]
        self._rounding = torch.zeros(self.num_graphs)  # the mirrored halves cancel up to this: ties must be ties
        self._rounding = self.values(self.initial)

    def fingerprint(self) -> list[Tensor]:
        """Return the aggregated graphs."""
        return [self.graphs.nodes, self.graphs.offsets, self.graphs.divisors]

    def values(self, weights: Weights) -> Tensor:
        """Return f(G; theta) of all graphs."""
        return self.values_and_squares(weights, torch.zeros(self.num_features))[0]

    def values_and_features(self, weights: Weights, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and psi of some graphs."""
        if self._padded is None:
            values, features = values_and_features(weights, select_graphs(self.graphs, index))
        else:
            values, features = fused_values_and_features(weights, self._padded, index)
        return values - self._rounding[index], features[:, self._first_feature :]

    def values_and_squares(self, weights: Weights, precision: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and the weighted squares of psi of all graphs."""
        if self._padded is None:
            return values_and_squares_by_blocks(self, weights, precision)
        precision = torch.nn.functional.pad(precision, (self._first_feature, 0))
        values, squares = fused_values_and_squares(weights, self._padded, precision)
        return values - self._rounding, squares

    def descend(
        self, weights: Weights, centers: Weights, batches: Batches, learning_rate: float, penalty: float
    ) -> list[Tensor]:
        """Return the weights after a step of gradient descent a batch."""
        if self._padded is None:
            return descend(weights, centers, self.graphs, batches, learning_rate, penalty)
        return fused_descend(weights, centers, self._padded, batches, learning_rate, penalty)


def values_and_squares_by_blocks(network: Network, weights: Weights, precision: Tensor) -> tuple[Tensor, Tensor]:
    """Return f and sum_j psi_j^2 precision_j of all graphs from blocks of tangent features, `BLOCK_BYTES` at a time."""
    values, squares = [], []
    for index in blocks_of_graphs(network):
        block_values, features = network.values_and_features(weights, index)
        values.append(block_values)
        squares.append(features.double().square() @ precision.double())
    return torch.cat(values), torch.cat(squares)


def blocks_of_graphs(network: Network) -> tuple[Tensor, ...]:
    """Cut the graphs into blocks whose tangent features take at most `BLOCK_BYTES`."""
    size = max(1, BLOCK_BYTES // (8 * network.num_features))
    blocks: tuple[Tensor, ...] = torch.arange(network.num_graphs).split(size)
    return blocks


def _paper_network(
    encode: Callable[..., AggregatedGraphs], batch: Batch, settings: NeuralSettings, seed: int
) -> Network:
    return PaperNetwork(encode(batch, own_count=settings.node_count == "own"), settings, seed)


graph_network: NetworkBuilder = partial(_paper_network, aggregate_neighbours)
"""The paper's network on the aggregated neighbours of each node."""

node_network: NetworkBuilder = partial(_paper_network, keep_nodes)
"""The same on the nodes as they are: the NN baselines."""
