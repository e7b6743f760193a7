"""Compute the paper's network of depth 2 in single passes over nodes, on one core and in little memory.

No temporary of size nodes x width is made. `gntk.engines.loops` holds the loops and their equations. Tests compare them
with the plain forms, `gntk.engines.descend` and `gntk.network.values_and_features`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gntk.aggregation import AggregatedGraphs
from gntk.engines.base import Batches, Gradient, PaperNetwork, Weights
from gntk.engines.loops import NODES, descend, evaluate, score
from gntk.engines.revisits import UNITS, Visits, descend_on_visits

Floats = NDArray[np.float32]
MANY_BATCHES = 400  # from this number on, and with as many visits of each graph, shared computations are cached
MANY_VISITS = 10
KEPT_BYTES = 1 << 28  # largest float32 arrays cached for all visited graphs: a quarter of a gigabyte


class PaddedGraphs(NamedTuple):
    """Hold aggregated graphs in the layout of the compiled loops: nodes padded with zeros, which do not affect sums.

    Attributes:
        nodes: `(M', d')` float32. Each graph has a multiple of four nodes, and d' is even.
        starts: `(K + 1,)` int64. The rows of graph k are `starts[k]:starts[k + 1]`.
        divisors: `(K,)` float32. N of each graph.
        feature_dim: d.
    """

    nodes: Floats
    starts: NDArray[np.int64]
    divisors: Floats
    feature_dim: int


def pad_graphs(graphs: AggregatedGraphs) -> PaddedGraphs:
    """Pad graphs for the compiled loops, in float32."""
    sizes = (graphs.sizes + NODES - 1) // NODES * NODES
    starts = torch.nn.functional.pad(sizes.cumsum(0), (1, 0))
    padded = _empty(int(starts[-1]), graphs.feature_dim + graphs.feature_dim % 2).zero_()
    rows = torch.arange(len(graphs.nodes)) + (starts[:-1] - graphs.offsets[:-1])[graphs.graph_index]
    padded[rows, : graphs.feature_dim] = graphs.nodes.float()
    return PaddedGraphs(padded.numpy(), starts.numpy(), graphs.divisors.float().numpy(), graphs.feature_dim)


class CompiledNetwork(PaperNetwork):
    """The paper's network with two float32 weight matrices, W `(m, d)` and w `(1, m)`, by compiled loops.

    Tangent features are computed in float32 and returned as float64, ready for products. The features of W are
    in column-major order, `(d, m)`, followed by those of w. Weights and indices that do not fit the graphs raise
    ValueError.

    Args:
        graphs: K graphs, aggregated.
        initial: theta_0.
        gradient: features are derivatives with respect to all weights, or to those of the last layer.
    """

    def __init__(self, graphs: AggregatedGraphs, initial: Weights, gradient: Gradient = "all") -> None:
        super().__init__(graphs, initial, gradient, torch.device("cpu"))

    def _take(self, graphs: AggregatedGraphs) -> None:
        super()._take(graphs)
        self._padded = pad_graphs(graphs)

    def values(self, weights: Weights) -> Tensor:
        """Return f of all graphs."""
        return self.values_and_squares(weights, torch.zeros(self.num_features))[0]

    def features(self, weights: Weights, index: Tensor) -> Tensor:
        """Return psi of some graphs."""
        return self.values_and_features(weights, index)[1]

    def values_and_features(self, weights: Weights, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and psi of some graphs."""
        graphs = self._padded
        _check(weights, graphs, index)
        theta = _transposed(weights, graphs)
        d, m = graphs.feature_dim, len(theta[1])
        values, columns = _empty(len(index)), torch.empty(len(index), d + 1, m, dtype=torch.float64)
        evaluate(theta, graphs, index.numpy(), _scratch(theta[0]), values.numpy(), columns.numpy())
        features = columns.view(len(index), (d + 1) * m)
        return values - self._rounding[index], features[:, self._first_feature :]

    def values_and_squares(self, weights: Weights, precision: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and the weighted squares of psi (float64) of all graphs, without storing any psi."""
        graphs = self._padded
        _check(weights, graphs)
        if precision.shape != (self.num_features,):
            raise ValueError(f"Expected `precision` of shape `({self.num_features},)`. Got `{tuple(precision.shape)}`.")
        theta = _transposed(weights, graphs)
        d, m = graphs.feature_dim, len(theta[1])
        hidden, last = self._of_all_weights(precision).double().split([d * m, m])
        values, squares = _empty(self.num_graphs), torch.empty(self.num_graphs, dtype=torch.float64)
        precisions = hidden.view(d, m).numpy(), last.numpy()
        score(theta, precisions, graphs, _scratch(theta[0]), values.numpy(), squares.numpy())
        return values - self._rounding, squares

    def descend(
        self, weights: Weights, centers: Weights, batches: Batches, learning_rate: float, penalty: float
    ) -> list[Tensor]:
        """Return the weights after one step per batch, with one pass for a graph that a batch repeats.

        Many batches on few graphs are delegated to `gntk.engines.revisits`, which is equal up to rounding.
        """
        graphs = self._padded
        _check(weights, graphs, batches.index)
        _check(centers, graphs)
        theta = _transposed(weights, graphs)
        entries = batches.index.numpy(), batches.targets.float().numpy(), batches.offsets.numpy()
        given = theta, _transposed(centers, graphs), graphs, entries, np.float32(learning_rate), np.float32(penalty)
        if len(batches) >= MANY_BATCHES:
            seen = batches.index.unique()
            kept = 4 * len(seen) * theta[0].size * 2
            if len(batches.index) >= MANY_VISITS * len(seen) and kept <= KEPT_BYTES:
                centered = not any(center.any() for center in centers)
                shrink = 1 - learning_rate * penalty if centered and learning_rate * penalty < 1 else 1
                descend_on_visits(*given, np.float32(shrink), _make_visits(theta[0], graphs, seen.numpy()))
                return _as_weights(theta, graphs)
        descend(*given, _scratch(theta[0]))
        return _as_weights(theta, graphs)


def _make_visits(hidden: Floats, graphs: PaddedGraphs, seen: NDArray[np.int64]) -> Visits:
    """Allocate the cache of the graphs `seen`."""
    (d, m), count = hidden.shape, len(seen)
    lengths = np.linalg.norm(graphs.nodes, axis=1)
    reach, slots = np.zeros_like(graphs.divisors), np.zeros(len(graphs.divisors), np.int64)
    reach[seen] = [lengths[graphs.starts[graph] : graphs.starts[graph + 1]].max(initial=0) for graph in seen]
    slots[seen] = np.arange(count)
    return Visits(
        np.where(lengths > 0, np.float32(0), np.float32(np.inf)),
        reach,
        slots,
        then=_empty(count, d, m).zero_().numpy(),
        sums=_empty(count, d, m).numpy(),
        room=_empty(count, m).zero_().numpy(),
        scratch=_empty(4, max(d, 2) * (m + UNITS)).numpy(),
    )


def _as_weights(theta: tuple[Floats, Floats], graphs: PaddedGraphs) -> list[Tensor]:
    hidden, last = theta
    return [torch.from_numpy(hidden[: graphs.feature_dim].T.copy()), torch.from_numpy(last[None].copy())]


def _check(weights: Weights, graphs: PaddedGraphs, index: Tensor | None = None) -> None:
    """Refuse weights and indices for which the loops, which check nothing, would read beyond their arrays."""
    shapes = [tuple(weight.shape) for weight in weights]
    if len(shapes) != 2 or shapes != [(shapes[0][0], graphs.feature_dim), (1, shapes[0][0])]:
        raise ValueError(f"Expected weights `(m, {graphs.feature_dim})` and `(1, m)`. Got {shapes}.")
    count = len(graphs.divisors)
    if index is not None and len(index) and not (int(index.min()) >= 0 and int(index.max()) < count):
        raise ValueError(f"Expected graphs from 0 to {count - 1}. Got {int(index.min())} to {int(index.max())}.")


def _transposed(weights: Weights, graphs: PaddedGraphs) -> tuple[Floats, Floats]:
    """Return copies `(d', m)` and `(m,)` of the two weight matrices."""
    hidden = _empty(graphs.nodes.shape[1], len(weights[0])).zero_()
    hidden[: graphs.feature_dim] = weights[0].T
    return hidden.numpy(), weights[1][0].clone().numpy()


def _scratch(hidden: Floats) -> tuple[Floats, Floats, Floats]:
    """Allocate A `(d', m)`, r `(m,)` and the hidden units of four nodes `(4, m)`, aligned to cache lines."""
    d, m = hidden.shape
    return _empty(d, m).numpy(), _empty(m).numpy(), _empty(NODES, m).numpy()


def _empty(*shape: int) -> Tensor:
    """Allocate an array that begins at a cache line, which NumPy does not guarantee."""
    return torch.empty(*shape, dtype=torch.float32)
