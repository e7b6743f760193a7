"""Build the network of a neural agent from its settings: the paper's network, or the user's module."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import nn
from torch_geometric.data import Batch

from agents.neural.settings import NeuralSettings
from gntk import AggregatedGraphs, aggregate_neighbours, keep_nodes
from gntk.engines import ModuleNetwork, ModuleOrFactory, Network, paper_network

NetworkBuilder = Callable[[Batch, NeuralSettings, int], Network]
"""Makes a network on the graphs of a batch, from settings and a seed."""


def _paper_network(
    encode: Callable[..., AggregatedGraphs], batch: Batch, settings: NeuralSettings, seed: int
) -> Network:
    graphs = encode(batch, own_count=settings.node_count == "own")
    return paper_network(graphs, settings.width, settings.depth, seed, settings.gradient, settings.device)


graph_network: NetworkBuilder = partial(_paper_network, aggregate_neighbours)
"""The paper's network on the aggregated neighbours of each node."""

node_network: NetworkBuilder = partial(_paper_network, keep_nodes)
"""The paper's network on nodes without edges: the NN baselines."""


def module_network(module: ModuleOrFactory) -> NetworkBuilder:
    """Return a function that builds the network of a module, or of a function that makes modules."""
    return partial(_module_network, module)


def _module_network(module: ModuleOrFactory, batch: Batch, settings: NeuralSettings, seed: int) -> Network:
    return ModuleNetwork(module, batch, seed, settings.gradient, settings.device)


def name_module(module: object, given: str) -> str:
    """Return the name of a module in settings and results: its class, and the name that the user gave.

    Raises:
        TypeError: if it is neither a module nor a function that makes one.
        ValueError: if a function without a name makes it and the user gave none.
    """
    if not isinstance(module, nn.Module) and not callable(module):
        raise TypeError(
            f"Expected `network` to be a torch module `Batch -> (K,)`, or a function that makes one. Got {module!r}."
        )
    name = type(module).__name__ if isinstance(module, nn.Module) else getattr(module, "__name__", "<lambda>")
    if name == "<lambda>" and not given:
        raise ValueError("Expected `network_name` for a network made by a function without a name. Got none.")
    return f"{name}/{given}" if given else str(name)
