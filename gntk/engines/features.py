"""Tangent features of all graphs at one theta: kept in memory if they fit, otherwise computed block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

from gntk.engines.base import Network, Weights
from gntk.network import gram

BLOCK_BYTES = 1 << 26  # largest float64 tangent features computed at a time if not all are stored
HELD_BYTES = 1 << 28  # largest K x p float64 features kept in memory: a quarter of a gigabyte


class HeldFeatures:
    """Keep the features of all graphs in memory, as float64.

    Args:
        values: `(K,)`. Predictions.
        features: `(K, p)`. Tangent features.
    """

    def __init__(self, values: Tensor, features: Tensor) -> None:
        self.values, self.features = values, features.double()

    def select(self, index: Tensor) -> Tensor:
        """Return psi of the graphs `index` `(n,)`: `(n, p)`."""
        return self.features[index]

    def squares(self, precision: Tensor | None = None, among: Tensor | None = None) -> Tensor:
        """Return sum_j psi_j^2 precision_j (or the plain sum) of each graph, `(K,)` float64, or of those `among`."""
        rows = self.features if among is None else self.features[among]
        if precision is None:
            squares: Tensor = torch.linalg.vecdot(rows, rows)
            return squares
        return rows.square() @ precision

    def cross(self, rows: Tensor) -> Tensor:
        """Return the inner products of the rows `(n, p)` with psi of each graph: `(n, K)` float64."""
        return gram(rows, self.features)

    def kernel(self) -> Tensor:
        """Return the inner products of all psi: `(K, K)` float64."""
        return gram(self.features, self.features)


class MadeFeatures:
    """Compute features when needed, in bounded memory, without an array of size K x p.

    Args:
        network: the network to differentiate.
        weights: theta.
    """

    def __init__(self, network: Network, weights: Weights) -> None:
        self.network, self.weights = network, weights
        self._values: Tensor | None = None

    @property
    def values(self) -> Tensor:
        """Return the predictions, without cost after a call of `squares`."""
        if self._values is None:
            self._values = self.network.values(self.weights)
        return self._values

    def select(self, index: Tensor) -> Tensor:
        """Compute the rows of some graphs."""
        return self.network.features(self.weights, index)

    def squares(self, precision: Tensor | None = None, among: Tensor | None = None) -> Tensor:
        """Return the weighted squared length of each row, or of some, and store the predictions that come with it."""
        if precision is None:
            precision = torch.ones(self.network.num_features)
        self._values, squares = self.network.values_and_squares(self.weights, precision)
        return squares.double() if among is None else squares[among].double()

    def cross(self, rows: Tensor) -> Tensor:
        """Return the Gram matrix of other rows with these, block by block."""
        return torch.cat([gram(rows, self.select(index)) for index in self._blocks()], dim=1)

    def kernel(self) -> Tensor:
        """Return the Gram matrix, block by block, with each psi computed once per block."""
        return torch.cat([self.cross(self.select(index)) for index in self._blocks()])

    def _blocks(self) -> tuple[Tensor, ...]:
        return blocks_of_graphs(self.network.num_graphs, self.network.num_features)


Features: TypeAlias = HeldFeatures | MadeFeatures
"""The products with psi(G; theta) of the K graphs that a covariance needs, and their predictions."""


def features_at(network: Network, weights: Weights, hold: bool = True) -> Features:
    """Return the tangent features of all graphs at theta, kept in memory or computed when needed.

    Args:
        network: the network to differentiate.
        weights: theta.
        hold: keep the features in memory if they take at most `HELD_BYTES`.
    """
    if hold and 8 * network.num_graphs * network.num_features <= HELD_BYTES:
        return HeldFeatures(*network.values_and_features(weights, torch.arange(network.num_graphs)))
    return MadeFeatures(network, weights)


def squares_in_blocks(make_features: Callable[[Tensor], Tensor], num_graphs: int, precision: Tensor) -> Tensor:
    """Return sum_j psi_j^2 precision_j of each graph, `(K,)` float64 on the CPU, from blocks of psi.

    Args:
        make_features: returns psi `(n, p)` of the graphs `(n,)`, on the device of the precision.
        num_graphs: K.
        precision: `(p,)` float64. Weights of the squares.
    """
    blocks = blocks_of_graphs(num_graphs, len(precision))
    return torch.cat([(make_features(index).double().square() @ precision).cpu() for index in blocks])


def blocks_of_graphs(num_graphs: int, num_features: int) -> tuple[Tensor, ...]:
    """Split the graphs into blocks, so that the float64 tangent features of a block take at most `BLOCK_BYTES`."""
    size = max(1, BLOCK_BYTES // (8 * num_features))
    blocks: tuple[Tensor, ...] = torch.arange(num_graphs).split(size)
    return blocks
