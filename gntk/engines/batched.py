"""Values and tangent features of many graphs in one pass of padded matrix products: the form for a GPU."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from gntk.aggregation import AggregatedGraphs, select_graphs

NODE_UNITS_PER_BLOCK = 1 << 26  # nodes x width of one layer, as padded: a quarter of a gigabyte in float32


def batched_values_and_features(
    weights: Sequence[Tensor], graphs: AggregatedGraphs, index: Tensor
) -> tuple[Tensor, Tensor]:
    """Do what `gntk.values_and_features` does, for `(n,)` graphs, in blocks of padded graphs.

    A padded node is 0, so that no hidden unit is above 0 there, and it changes no sum.

    Args:
        weights: L matrices, on the device of the graphs.
        graphs: K graphs.
        index: `(n,)` int64. Which ones.

    Returns:
        `(n,)` predictions, and `(n, p)` tangent features in the order of `gntk.tangent_features`.
    """
    if len(index) == 0:
        return graphs.nodes.new_empty(0), graphs.nodes.new_empty(0, sum(weight.numel() for weight in weights))
    size = max(1, NODE_UNITS_PER_BLOCK // (int(graphs.sizes.max()) * max(map(len, weights))))
    blocks = [_block(weights, select_graphs(graphs, part)) for part in index.to(graphs.nodes.device).split(size)]
    values, features = zip(*blocks, strict=True)
    return torch.cat(values), torch.cat(features)


def _block(weights: Sequence[Tensor], graphs: AggregatedGraphs) -> tuple[Tensor, Tensor]:
    rows = torch.arange(len(graphs.nodes), device=graphs.nodes.device) - graphs.offsets[graphs.graph_index]
    nodes = graphs.nodes.new_zeros(len(graphs), int(graphs.sizes.max()), graphs.feature_dim)
    nodes[graphs.graph_index, rows] = graphs.nodes
    inputs = [nodes]  # z^(l) `(n, N, m)`, as in `layer_inputs`
    for weight in weights[:-1]:
        inputs.append((inputs[-1] @ weight.T).relu() / math.sqrt(len(weight)))
    values = (inputs[-1] @ weights[-1].T).sum(dim=(1, 2)) / graphs.divisors
    signal = (1 / graphs.divisors)[:, None, None].expand(-1, nodes.shape[1], 1)  # delta^(l), as in `layer_signals`
    features = [signal.mT @ inputs[-1]]
    for layer in range(len(weights) - 1, 0, -1):
        signal = ((signal / math.sqrt(len(weights[layer].T))) @ weights[layer]) * (inputs[layer] > 0)
        features.append(signal.mT @ inputs[layer - 1])
    return values, torch.cat([feature.flatten(1) for feature in reversed(features)], dim=1)
