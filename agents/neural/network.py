"""Build the network of a neural agent from its settings: the paper's network, or the user's module."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Batch

from agents.beliefs.structure import NodeFeatures
from agents.contract.reading import DIRECTIONS, EDGE_FEATURES, NODE_FEATURES
from agents.neural.settings import NeuralSettings
from gntk.engines import ModuleNetwork, ModuleOrFactory, Network, paper_network


class Architecture(ABC):
    """Make the network of an agent on some graphs, and move it to others."""

    reads: frozenset[str]
    """The parts of a graph that the network reads."""
    addition: str = ""
    """A sentence about features added to the first graphs, or empty."""

    @abstractmethod
    def build(self, graphs: Batch, settings: NeuralSettings, seed: int) -> Network:
        """Return a network on K graphs, with weights from a seed."""

    @abstractmethod
    def exchange(self, network: Any, kept: Tensor, graphs: Batch | None) -> None:
        """Move a network that `build` returned to its remaining graphs, `kept` `(n,)`, followed by new ones.

        Raises:
            ValueError: if it cannot read a graph. The network is then unchanged.
        """


class PaperArchitecture(Architecture):
    """The paper's network. N stays that of the first graphs, so that larger graphs do not change its values.

    Args:
        reads_edges: aggregate nodes over their neighbours. If False, nodes are kept, as in the NN baselines.
    """

    reads = frozenset({NODE_FEATURES})

    def __init__(self, reads_edges: bool) -> None:
        self._features = NodeFeatures(reads_edges)

    def build(self, graphs: Batch, settings: NeuralSettings, seed: int) -> Network:
        """Return a network on K graphs, with weights from a seed."""
        reads_edges = self._features.reads_edges
        self._features = NodeFeatures.of(graphs, settings.node_features, settings.node_count, reads_edges)
        self.addition = self._features.addition
        encoded = self._features.encode(graphs, own_count=self._features.own_count)
        return paper_network(encoded, settings.width, settings.depth, seed, settings.gradient, settings.device)

    def exchange(self, network: Any, kept: Tensor, graphs: Batch | None) -> None:
        """Move a network to its remaining graphs, followed by new ones."""
        network.exchange(self._features.exchange(network.graphs, kept, graphs, self._features.own_count))


class ModuleArchitecture(Architecture):
    """A module of the user.

    Args:
        module: a torch module `Batch -> (K,)`, or a function that makes one.
    """

    reads = frozenset({NODE_FEATURES, EDGE_FEATURES, DIRECTIONS})

    def __init__(self, module: ModuleOrFactory) -> None:
        self._module = module

    def build(self, graphs: Batch, settings: NeuralSettings, seed: int) -> Network:
        """Return a network on K graphs, with weights from a seed."""
        return ModuleNetwork(self._module, graphs, seed, settings.gradient, settings.device)

    def exchange(self, network: Any, kept: Tensor, graphs: Batch | None) -> None:
        """Move a network to its remaining graphs, followed by new ones."""
        new = [] if graphs is None else graphs.to_data_list()
        network.exchange([*(network.graphs[slot] for slot in kept.tolist()), *new])


def name_module(module: object, given: str) -> str:
    """Return the name of a module in settings and results: its class, and the name that the user gave.

    Raises:
        TypeError: if `module` is neither a module nor a function that makes one.
        ValueError: if a function without a name makes it and the user gave no name.
    """
    if not isinstance(module, nn.Module) and not callable(module):
        raise TypeError(
            f"Expected `network` to be a torch module `Batch -> (K,)`, or a function that makes one. Got {module!r}."
        )
    name = type(module).__name__ if isinstance(module, nn.Module) else getattr(module, "__name__", "<lambda>")
    if name == "<lambda>" and not given:
        raise ValueError("Expected `network_name` for a network made by a function without a name. Got none.")
    return f"{name}/{given}" if given else str(name)
