"""The network of depth 2 in single passes over nodes, on one core, without temporaries of nodes x width.

The loops are in `gntk.engines.loops`, which has the equations; `gntk.descend` and `gntk.values_and_features` are the
plain forms, with which tests compare these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gntk.aggregation import AggregatedGraphs
from gntk.descent import Batches
from gntk.engines import loops as compiled

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PaddedGraphs:
    """Aggregated graphs as the compiled loops take them: nodes padded with zeros, which change no sum.

    Attributes:
        nodes: `(M', d')` float32. Each graph has a multiple of four nodes, and d' is even.
        starts: `(K + 1,)` int64. Graph k owns rows `starts[k]` to `starts[k + 1]`.
        divisors: `(K,)` float32. N of each graph.
        feature_dim: d.
    """

    nodes: Floats
    starts: NDArray[np.int64]
    divisors: Floats
    feature_dim: int


def pad_graphs(graphs: AggregatedGraphs) -> PaddedGraphs:
    """Lay graphs out for the compiled loops, in float32."""
    sizes = (graphs.sizes + compiled.NODES - 1) // compiled.NODES * compiled.NODES
    starts = torch.nn.functional.pad(sizes.cumsum(0), (1, 0))
    padded = _empty(int(starts[-1]), graphs.feature_dim + graphs.feature_dim % 2).zero_()
    rows = torch.arange(len(graphs.nodes)) + (starts[:-1] - graphs.offsets[:-1])[graphs.graph_index]
    padded[rows, : graphs.feature_dim] = graphs.nodes.float()
    return PaddedGraphs(padded.numpy(), starts.numpy(), graphs.divisors.float().numpy(), graphs.feature_dim)


def fused_descend(
    weights: Sequence[Tensor],
    centers: Sequence[Tensor],
    graphs: PaddedGraphs,
    batches: Batches,
    learning_rate: float,
    penalty: float,
) -> list[Tensor]:
    """Do what `gntk.descend` does, for two weight matrices in float32; a graph that a batch repeats is passed once."""
    _check(weights, graphs, batches.index)
    _check(centers, graphs)
    hidden, last = _transposed(weights, graphs)
    compiled.descend(
        hidden,
        last,
        *_transposed(centers, graphs),
        graphs.nodes,
        graphs.starts,
        graphs.divisors,
        batches.index.numpy(),
        batches.targets.float().numpy(),
        batches.offsets.numpy(),
        np.float32(learning_rate),
        np.float32(penalty),
        *_scratch(hidden),
        np.zeros_like(hidden),
        np.zeros_like(last),
    )
    return [torch.from_numpy(hidden[: graphs.feature_dim].T.copy()), torch.from_numpy(last[None].copy())]


def fused_values_and_features(weights: Sequence[Tensor], graphs: PaddedGraphs, index: Tensor) -> tuple[Tensor, Tensor]:
    """Compute predictions and tangent features of some graphs.

    Args:
        weights: `(m, d)` and `(1, m)` float32.
        graphs: K graphs.
        index: `(n,)` int64. Which ones.

    Returns:
        `(n,)` float32 predictions, and `(n, p)` tangent features: float32 numbers, held as float64 for the products to
        come. Those of W are in column-major order here, `(d, m)`, and those of w come last.

    Raises:
        ValueError: if weights or indices are not of these graphs.
    """
    _check(weights, graphs, index)
    hidden, last = _transposed(weights, graphs)
    d, m = graphs.feature_dim, len(last)
    values, columns = _empty(len(index)), torch.empty(len(index), d + 1, m, dtype=torch.float64)
    compiled.evaluate(
        hidden,
        last,
        graphs.nodes,
        graphs.starts,
        graphs.divisors,
        index.numpy(),
        *_scratch(hidden),
        values.numpy(),
        columns.numpy(),
    )
    return values, columns.view(len(index), (d + 1) * m)


def fused_values_and_squares(
    weights: Sequence[Tensor], graphs: PaddedGraphs, precision: Tensor
) -> tuple[Tensor, Tensor]:
    """Compute f(G) and sum_j psi_j(G)^2 precision_j of all K graphs, without holding any tangent feature.

    Args:
        weights: `(m, d)` and `(1, m)` float32.
        graphs: K graphs.
        precision: `(p,)`, in the order of `fused_values_and_features`.

    Returns:
        `(K,)` float32 predictions and `(K,)` float64 weighted squares.

    Raises:
        ValueError: if weights or `precision` are not of these graphs.
    """
    _check(weights, graphs)
    hidden, last = _transposed(weights, graphs)
    d, m = graphs.feature_dim, len(last)
    if precision.shape != ((d + 1) * m,):
        raise ValueError(f"Expected `precision` of shape `({(d + 1) * m},)`. Got `{tuple(precision.shape)}`.")
    values, squares = _empty(len(graphs.divisors)), torch.empty(len(graphs.divisors), dtype=torch.float64)
    compiled.score(
        hidden,
        last,
        precision[: d * m].double().view(d, m).numpy(),
        precision[d * m :].double().numpy(),
        graphs.nodes,
        graphs.starts,
        graphs.divisors,
        *_scratch(hidden),
        values.numpy(),
        squares.numpy(),
    )
    return values, squares


def _check(weights: Sequence[Tensor], graphs: PaddedGraphs, index: Tensor | None = None) -> None:
    """Refuse what the loops, which check nothing, would read beyond their arrays."""
    shapes = [tuple(weight.shape) for weight in weights]
    if len(shapes) != 2 or shapes != [(shapes[0][0], graphs.feature_dim), (1, shapes[0][0])]:
        raise ValueError(f"Expected weights `(m, {graphs.feature_dim})` and `(1, m)`. Got {shapes}.")
    count = len(graphs.divisors)
    if index is not None and len(index) and not (int(index.min()) >= 0 and int(index.max()) < count):
        raise ValueError(f"Expected graphs from 0 to {count - 1}. Got {int(index.min())} to {int(index.max())}.")


def _transposed(weights: Sequence[Tensor], graphs: PaddedGraphs) -> tuple[Floats, Floats]:
    """Return copies `(d', m)` and `(m,)` of the two weight matrices."""
    hidden = _empty(graphs.nodes.shape[1], len(weights[0])).zero_()
    hidden[: graphs.feature_dim] = weights[0].T
    return hidden.numpy(), weights[1][0].clone().numpy()


def _scratch(hidden: Floats) -> tuple[Floats, Floats, Floats]:
    """Return room for A `(d', m)`, r `(m,)` and the hidden units of four nodes `(4, m)`, aligned to cache lines."""
    d, m = hidden.shape
    return _empty(d, m).numpy(), _empty(m).numpy(), _empty(compiled.NODES, m).numpy()


def _empty(*shape: int) -> Tensor:
    """Return room that begins at a cache line, where NumPy's does not."""
    return torch.empty(*shape, dtype=torch.float32)
