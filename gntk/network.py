"""The paper's network: an MLP on aggregated nodes, averaged over the nodes of a graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from gntk.aggregation import AggregatedGraphs, as_aggregated

if TYPE_CHECKING:
    from torch_geometric.data import Batch


class GraphMLP(nn.Module):
    """Predict one number per graph; by default the prediction is 0 for every graph at the initial weights.

        f^(1) = W^(1) h,   f^(l) = m^(-1/2) W^(l) ReLU(f^(l-1)),   f(G) = (1/N) sum_i f^(L)(h_i)
        [Wu & Amini 2024, Eq. (1)]; all weights N(0, 1), no biases.

    With `zero_start` the network consists of two mirrored halves with output weights w and -w. Its hidden matrices are
    then block-diagonal with variance 2, so that each half keeps the scale of the whole network and the kernel tends to
    the same infinite-width kernel.

    Args:
        feature_dim: d, number of features of a node; at least 1.
        width: m, number of hidden units; even if `zero_start`.
        depth: L, number of weight matrices; at least 2.
        seed: seed of the initial weights.
        num_nodes: N, the divisor of sums over the nodes of a PyG batch. None: the node count of the largest graph in
            each batch. Aggregated graphs carry their own N.
        zero_start: make f(G) = 0 for every graph at the initial weights.

    Raises:
        ValueError: if a size is out of its range.
    """

    def __init__(
        self,
        feature_dim: int,
        width: int = 512,
        depth: int = 2,
        seed: int = 0,
        num_nodes: int | None = None,
        zero_start: bool = True,
    ) -> None:
        super().__init__()
        if feature_dim < 1:
            raise ValueError(f"Expected `feature_dim` to be at least 1. Got {feature_dim}.")
        if depth < 2:
            raise ValueError(f"Expected `depth` to be at least 2. Got {depth}.")
        if width < 1 or (zero_start and width % 2):
            raise ValueError(f"Expected `width` to be positive, and even for `zero_start`. Got {width}.")
        self.feature_dim, self.width, self.depth, self.num_nodes = feature_dim, width, depth, num_nodes
        draw = _draw_mirrored if zero_start else _draw_plain
        generator = torch.Generator().manual_seed(seed)
        self.weights = nn.ParameterList(draw(feature_dim, width, depth, generator))

    def forward(self, graphs: Batch | AggregatedGraphs) -> Tensor:
        """Return the predictions f(G): `(K,)`, of the floating point type of the weights."""
        graphs = self.aggregate(graphs)
        return predict(tuple(self.weights), graphs, layer_inputs(tuple(self.weights), graphs.nodes))

    def aggregate(self, graphs: Batch | AggregatedGraphs) -> AggregatedGraphs:
        """Aggregate the graphs if they are not yet, and convert them to the floating point type of the weights."""
        return as_aggregated(graphs, self.num_nodes).to(self.weights[0].dtype)


def layer_inputs(weights: Sequence[Tensor], nodes: Tensor) -> list[Tensor]:
    """Run the network forward on every node, up to its last layer.

        z^(0) = h,   z^(l) = m^(-1/2) ReLU(f^(l)) = m^(-1/2) ReLU(W^(l) z^(l-1))

    Args:
        weights: L matrices, `(m, d)`, `(m, m)` ..., `(1, m)`.
        nodes: `(..., d)`, of the type of the weights. h.

    Returns:
        z^(0) `(..., d)` to z^(L-1) `(..., m)`, the input of each weight matrix.

    Raises:
        ValueError: if the nodes do not have d features.
    """
    if nodes.shape[-1] != weights[0].shape[1]:
        raise ValueError(f"Expected nodes with {weights[0].shape[1]} features. Got {nodes.shape[-1]}.")
    inputs = [nodes]
    for weight in weights[:-1]:
        inputs.append((inputs[-1] @ weight.T).relu() / math.sqrt(len(weight)))
    return inputs


def predict(weights: Sequence[Tensor], graphs: AggregatedGraphs, inputs: Sequence[Tensor]) -> Tensor:
    """Apply the last layer and average over nodes.

        f(G) = (1/N) sum_{i in G} W^(L) z_i^(L-1)

    Args:
        weights: as in `layer_inputs`.
        graphs: K graphs with M nodes in total.
        inputs: the result of `layer_inputs` for these nodes.

    Returns:
        `(K,)` predictions.
    """
    return graphs.sum_over_nodes((inputs[-1] @ weights[-1].T).squeeze(1)) / graphs.divisors


def _draw_plain(feature_dim: int, width: int, depth: int, generator: torch.Generator) -> list[Tensor]:
    columns = [feature_dim] + [width] * (depth - 1)
    rows = [width] * (depth - 1) + [1]
    return [torch.randn(r, c, generator=generator, dtype=torch.float32) for r, c in zip(rows, columns, strict=True)]


def _draw_mirrored(feature_dim: int, width: int, depth: int, generator: torch.Generator) -> list[Tensor]:
    first, *hidden, last = _draw_plain(feature_dim, width // 2, depth, generator)
    return [
        torch.cat([first, first]),
        *(torch.block_diag(block, block) * math.sqrt(2) for block in hidden),
        torch.cat([last, -last], dim=1),
    ]
