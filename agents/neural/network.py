"""The network of a neural agent, chosen and encoded as its settings say: the paper's, or a module of the user's."""

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
"""The same on nodes that have no neighbour but themselves: the NN baselines."""


def module_network(module: ModuleOrFactory) -> NetworkBuilder:
    """Return what makes the network of a module, or of a function that makes modules."""
    return partial(_module_network, module)


def _module_network(module: ModuleOrFactory, batch: Batch, settings: NeuralSettings, seed: int) -> Network:
    return ModuleNetwork(module, batch, seed, settings.gradient, settings.device)


def name_module(module: object, given: str) -> str:
    """Return by which name settings and results know a module: its class, and the name that the user gave.

    Raises:
        TypeError: if it is neither a module nor a function that makes one.
        ValueError: if it needs a name and has none.
    """
    if not isinstance(module, nn.Module) and not callable(module):
        raise TypeError(
            f"Expected `network` to be a torch module `Batch -> (K,)`, or a function that makes one. Got {module!r}."
        )
    name = type(module).__name__ if isinstance(module, nn.Module) else getattr(module, "__name__", "<lambda>")
    if name == "<lambda>" and not given:
        raise ValueError("Expected `network_name`: a function without a name makes this network. Give it one.")
    return f"{name}/{given}" if given else str(name)
