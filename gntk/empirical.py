"""Compute the tangent features of a `GraphMLP` in closed form, and the kernel that they span."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from gntk.aggregation import AggregatedGraphs
from gntk.network import GraphMLP, layer_inputs, predict

if TYPE_CHECKING:
    from torch_geometric.data import Batch

COLUMNS_PER_BLOCK = 1 << 16  # bounds the float64 copies that `gram` makes of its arguments


def tangent_features(model: GraphMLP, batch: Batch | AggregatedGraphs) -> Tensor:
    """Compute the gradient of each graph's prediction with respect to all weights.

        psi(G) = d f(G; theta) / d theta      [g(G; theta) in Wu & Amini 2024, Section 3.2]

    Args:
        model: the network, at its current weights.
        batch: K graphs.

    Returns:
        `(K, p)`, of the type of the weights, without autograd history; p = d m + (L - 2) m^2 + m. The derivatives stand
        in the order of `model.parameters()`, each matrix row-major.

    Raises:
        ValueError: if the number of node features is not the model's.
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
        graphs: K graphs, repeats allowed.
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
        ValueError: as `tangent_features`.
    """
    features = tangent_features(model, batch)
    return gram(features, features)


def gram(left: Tensor, right: Tensor) -> Tensor:
    """Compute the Gram matrix of two sets of features in float64, in blocks of bounded memory.

    Float32 would not do: at a ridge of m * 1e-4 its errors of 1e-5 spoil a posterior variance.

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
