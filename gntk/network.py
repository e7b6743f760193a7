"""The paper's network, an MLP on aggregated nodes, its tangent features in closed form, and the kernel of these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from gntk.aggregation import AggregatedGraphs, as_aggregated

if TYPE_CHECKING:
    from torch_geometric.data import Batch

COLUMNS_PER_BLOCK = 1 << 16  # bounds the float64 copies in `gram`


class GraphMLP(nn.Module):
    """Predict one number per graph. By default, all predictions are 0 at the initial weights.

        f^(1) = W^(1) h,   f^(l) = m^(-1/2) W^(l) ReLU(f^(l-1)),   f(G) = (1/N) sum_i f^(L)(h_i)
        [Wu & Amini 2024, Eq. (1)]; all weights N(0, 1), no biases.

    With `zero_start` the network consists of two mirrored halves with output weights w and -w. Its hidden matrices are
    then block-diagonal with variance 2, so that each half keeps the scale of the whole network and the kernel tends to
    the same infinite-width kernel.

    Args:
        feature_dim: d, number of features of a node, at least 1.
        width: m, number of hidden units, even if `zero_start`.
        depth: L, number of weight matrices, at least 2.
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
        """Aggregate the graphs if needed, and convert them to the floating point type of the weights."""
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


def tangent_features(model: GraphMLP, batch: Batch | AggregatedGraphs) -> Tensor:
    """Compute the gradient of each graph's prediction with respect to all weights.

        psi(G) = d f(G; theta) / d theta      [g(G; theta) in Wu & Amini 2024, Section 3.2]

    Args:
        model: the network, at its current weights.
        batch: K graphs.

    Returns:
        `(K, p)`, of the type of the weights, without autograd history, with p = d m + (L - 2) m^2 + m. The derivatives
        are in the order of `model.parameters()`, each matrix row-major.

    Raises:
        ValueError: if the number of node features differs from the model's.
    """
    return values_and_features([weight.detach() for weight in model.weights], model.aggregate(batch))[1]


def values_and_features(weights: Sequence[Tensor], graphs: AggregatedGraphs) -> tuple[Tensor, Tensor]:
    """Compute predictions and tangent features together, graph by graph, so that each graph stays in cache.

    Args:
        weights: L matrices, `(m, d)`, `(m, m)` ..., `(1, m)`.
        graphs: K graphs.

    Returns:
        `(K,)` predictions f(G), and `(K, p)` tangent features psi(G), both of the type of the nodes.

    Raises:
        ValueError: if the nodes do not have d features.
    """
    values = graphs.nodes.new_empty(len(graphs))
    features = graphs.nodes.new_empty(len(graphs), sum(weight.numel() for weight in weights))
    columns = features.split([weight.numel() for weight in weights], dim=1)
    for k, nodes in enumerate(graphs.nodes.split(graphs.sizes.tolist())):
        inputs = layer_inputs(weights, nodes)
        values[k] = (inputs[-1] @ weights[-1].T).sum() / graphs.divisors[k]
        signals = layer_signals(weights, inputs, (1 / graphs.divisors[k]).expand(len(nodes)))
        for signal, received, column in zip(signals, inputs, columns, strict=True):
            torch.mm(signal.T, received, out=column[k].view(signal.shape[1], received.shape[1]))
    return values, features


def layer_signals(weights: Sequence[Tensor], inputs: Sequence[Tensor], start: Tensor) -> list[Tensor]:
    """Propagate one weight per node back through the network.

        delta^(L) = start,   delta^(l-1) = m^(-1/2) (W^(l)^T delta^(l)) * 1[f^(l-1) > 0]

    The derivative of sum_i start_i f^(L)(h_i) with respect to W^(l) is then sum_i delta_i^(l) z_i^(l-1)^T.

    Args:
        weights: L matrices.
        inputs: the result of `layer_inputs`.
        start: `(M,)`. Weight of each node's output.

    Returns:
        delta^(1) `(M, m)` to delta^(L) `(M, 1)`.
    """
    signals = [start.unsqueeze(1)]
    for weight, received in zip(reversed(weights[1:]), reversed(inputs[1:]), strict=True):
        signals.append(((signals[-1] / math.sqrt(len(weight.T))) @ weight).mul_(received > 0))
    return signals[::-1]


def weighted_gradient(
    weights: Sequence[Tensor], graphs: AggregatedGraphs, targets: Tensor
) -> tuple[Tensor, list[Tensor]]:
    """Compute the gradient of the squared loss of all graphs in one pass.

        d/dtheta (1/2) sum_G (f(G) - y_G)^2 = sum_G (f(G) - y_G) psi(G)

    Args:
        weights: L matrices.
        graphs: K graphs, with repeats allowed.
        targets: `(K,)`. y_G.

    Returns:
        `(K,)` residuals f(G) - y_G, and one gradient for each weight matrix.
    """
    inputs = layer_inputs(weights, graphs.nodes)
    residuals = predict(weights, graphs, inputs) - targets
    signals = layer_signals(weights, inputs, (residuals / graphs.divisors)[graphs.graph_index])
    return residuals, [signal.T @ received for signal, received in zip(signals, inputs, strict=True)]


def empirical_kernel(model: GraphMLP, batch: Batch | AggregatedGraphs) -> Tensor:
    """Compute the graph neural tangent kernel of a network of finite width.

        k(G, G') = <psi(G), psi(G')>      [the paper's kernel without its further 1/m]

    Args:
        model: the network, at its current weights.
        batch: K graphs.

    Returns:
        `(K, K)` float64. For L = 2 and large m the diagonal entry of a graph of one unit node tends to 1.

    Raises:
        ValueError: as in `tangent_features`.
    """
    features = tangent_features(model, batch)
    return gram(features, features)


def gram(left: Tensor, right: Tensor) -> Tensor:
    """Compute the Gram matrix of two sets of features in float64, in blocks of bounded memory.

    Float32 is insufficient: at a ridge of m * 1e-4, its errors of 1e-5 spoil a posterior variance.

    Args:
        left: `(a, p)` floating point.
        right: `(b, p)` floating point.

    Returns:
        `(a, b)` float64. left right^T.
    """
    product = left.new_zeros(len(left), len(right), dtype=torch.float64)
    for a, b in zip(left.split(COLUMNS_PER_BLOCK, 1), right.split(COLUMNS_PER_BLOCK, 1), strict=True):
        product.addmm_(a.double(), b.double().T)
    return product
