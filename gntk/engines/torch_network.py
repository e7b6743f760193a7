"""Compute the paper's network of any depth in torch, and choose its fastest form: compiled on the CPU at depth 2."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from gntk.aggregation import AggregatedGraphs, select_graphs
from gntk.engines.base import Batches, Gradient, PaperNetwork, Weights, descend
from gntk.engines.compiled import CompiledNetwork
from gntk.engines.features import squares_in_blocks
from gntk.network import GraphMLP, layer_inputs, predict, values_and_features

CPU = torch.device("cpu")
GRAPH_BLOCK = 1 << 16  # graphs x width of a forward pass without features
NODE_UNITS_PER_BLOCK = 1 << 26  # padded nodes x width of one layer: a quarter of a gigabyte in float32


class TorchNetwork(PaperNetwork):
    """The paper's network by matrix products.

    All values come from the same kind of pass, so that equal weights give exactly equal values.

    Args:
        graphs: K graphs, aggregated.
        initial: theta_0, L matrices.
        gradient: features are derivatives with respect to all weights, or to those of the last layer.
        device: device on which the network computes.
        batched: compute features in padded blocks, which suits a GPU, instead of graph by graph, which suits a CPU
            because each graph stays in cache.
    """

    def __init__(
        self,
        graphs: AggregatedGraphs,
        initial: Weights,
        gradient: Gradient = "all",
        device: torch.device = CPU,
        batched: bool = False,
    ) -> None:
        self._batched = batched
        super().__init__(graphs, initial, gradient, device)

    def _take(self, graphs: AggregatedGraphs) -> None:
        super()._take(graphs)
        self._placed = graphs.to(torch.float32, self.device)

    def values(self, weights: Weights) -> Tensor:
        """Return f of all graphs, from blocks of graphs."""
        values = []
        for index in torch.arange(self.num_graphs).split(max(1, GRAPH_BLOCK // max(map(len, weights)))):
            block = select_graphs(self._placed, index.to(self.device))
            values.append(predict(weights, block, layer_inputs(weights, block.nodes)).cpu())
        return torch.cat(values) - self._rounding

    def features(self, weights: Weights, index: Tensor) -> Tensor:
        """Return psi of some graphs."""
        return self._derivatives(weights, index).cpu()[:, self._first_feature :]

    def values_and_squares(self, weights: Weights, precision: Tensor) -> tuple[Tensor, Tensor]:
        """Return f and the weighted squares of psi of all graphs, from blocks of psi that stay on the device."""
        precision = self._of_all_weights(precision).to(self.device, torch.float64)
        squares = squares_in_blocks(partial(self._derivatives, weights), self.num_graphs, precision)
        return self.values(weights), squares

    def descend(
        self, weights: Weights, centers: Weights, batches: Batches, learning_rate: float, penalty: float
    ) -> list[Tensor]:
        """Return the weights after one step of gradient descent per batch."""
        return descend(weights, centers, self._placed, batches.to(self.device), learning_rate, penalty)

    def _derivatives(self, weights: Weights, index: Tensor) -> Tensor:
        """Return df/dtheta of some graphs with respect to all weights, on the device."""
        if self._batched:
            return batched_features(weights, self._placed, index)
        return values_and_features(weights, select_graphs(self._placed, index.to(self.device)))[1]


def batched_features(weights: Weights, graphs: AggregatedGraphs, index: Tensor) -> Tensor:
    """Compute the tangent features of `(n,)` graphs in blocks of padded graphs, which suits a GPU.

    A padded node is 0, so it activates no hidden unit and changes no sum.

    Args:
        weights: L matrices, on the device of the graphs.
        graphs: K graphs.
        index: `(n,)` int64. Graphs to compute.

    Returns:
        `(n, p)` tangent features in the order of `gntk.tangent_features`.
    """
    if len(index) == 0:
        return graphs.nodes.new_empty(0, sum(weight.numel() for weight in weights))
    size = max(1, NODE_UNITS_PER_BLOCK // (int(graphs.sizes.max()) * max(map(len, weights))))
    parts = index.to(graphs.nodes.device).split(size)
    return torch.cat([_padded_features(weights, select_graphs(graphs, part)) for part in parts])


def _padded_features(weights: Weights, graphs: AggregatedGraphs) -> Tensor:
    rows = torch.arange(len(graphs.nodes), device=graphs.nodes.device) - graphs.offsets[graphs.graph_index]
    nodes = graphs.nodes.new_zeros(len(graphs), int(graphs.sizes.max()), graphs.feature_dim)
    nodes[graphs.graph_index, rows] = graphs.nodes
    inputs = layer_inputs(weights, nodes)
    signal = (1 / graphs.divisors)[:, None, None].expand(-1, nodes.shape[1], 1)  # delta^(l), as in `layer_signals`
    features = [signal.mT @ inputs[-1]]
    for layer in range(len(weights) - 1, 0, -1):
        signal = ((signal / math.sqrt(len(weights[layer].T))) @ weights[layer]) * (inputs[layer] > 0)
        features.append(signal.mT @ inputs[layer - 1])
    return torch.cat([feature.flatten(1) for feature in reversed(features)], dim=1)


def paper_network(
    graphs: AggregatedGraphs,
    width: int = 512,
    depth: int = 2,
    seed: int = 0,
    gradient: Gradient = "all",
    device: str = "cpu",
) -> PaperNetwork:
    """Make the paper's network on some graphs, in its fastest form for this depth and device.

    Args:
        graphs: K graphs, aggregated.
        width: m, even.
        depth: L, at least 2.
        seed: seed of the initial weights.
        gradient: tangent features are derivatives with respect to all weights, or to those of the last layer.
        device: name of the torch device on which the network computes.

    Returns:
        The network, at its initial weights.

    Raises:
        ValueError: if a size is out of its range, or torch cannot use the device here.
    """
    torch_device = read_device(device)
    initial = [weight.detach() for weight in GraphMLP(graphs.feature_dim, width, depth, seed=seed).weights]
    if torch_device.type == "cpu" and depth == 2:
        return CompiledNetwork(graphs, initial, gradient)
    return TorchNetwork(graphs, initial, gradient, torch_device, batched=torch_device.type != "cpu")


def read_device(name: str) -> torch.device:
    """Return the torch device of a name.

    Args:
        name: such as "cpu", "cuda" or "cuda:1".

    Raises:
        ValueError: if it cannot be used here. The message lists the devices that torch sees.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # fails on "meta", whose tensors hold no numbers
    except (RuntimeError, AssertionError) as error:  # torch without CUDA raises AssertionError
        devices = ["cpu", *(f"cuda:{k}" for k in range(torch.cuda.device_count()))]
        raise ValueError(
            f"Expected `device` to be one that torch can use here: {', '.join(devices)}. Got {name!r}: {error}"
        ) from error
    return device
