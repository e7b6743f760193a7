"""Build the network of a neural agent from its settings: the paper's network, or the user's module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from agents.beliefs.encoding import encode_more
from agents.beliefs.structure import NodeFeatures
from agents.contract.reading import DIRECTIONS, EDGE_FEATURES, NODE_FEATURES
from agents.neural.settings import NeuralSettings
from gntk.engines import ModuleNetwork, ModuleOrFactory, Network, paper_network


class PaperArchitecture:
    """The paper's network. N stays that of the first graphs, so that larger graphs do not change its values.

    Args:
        reads_edges: whether nodes are aggregated over their neighbours; else they are kept, as in the NN baselines.
    """

    reads = frozenset({NODE_FEATURES})

    def __init__(self, reads_edges: bool) -> None:
        self._reads_edges, self._features = reads_edges, NodeFeatures()

    @property
    def addition(self) -> str:
        """Return what was added to the node features of the first graphs, as a sentence; empty: nothing."""
        return self._features.addition

    def build(self, graphs: Batch, settings: NeuralSettings, seed: int) -> Network:
        """Return a network on K graphs, with weights from a seed."""
        self._features = NodeFeatures.of(graphs, settings.node_features, settings.node_count, self._reads_edges)
        encoded = self._features.encode(graphs, own_count=self._features.own_count)
        return paper_network(encoded, settings.width, settings.depth, seed, settings.gradient, settings.device)

    def exchange(self, network: Any, kept: Tensor, graphs: Sequence[Data], settings: NeuralSettings) -> None:
        """Take a network that `build` returned to those of its graphs that stay, `kept` `(n,)`, and then to new ones.

        Raises:
            ValueError: if it cannot read a graph; nothing is changed then.
        """
        network.exchange(encode_more(self._features.encode, network.graphs, kept, graphs, self._features.own_count))


@dataclass(frozen=True, eq=False)
class ModuleArchitecture:
    """A module of the user's."""

    module: ModuleOrFactory
    """A torch module `Batch -> (K,)`, or a function that makes one."""
    reads = frozenset({NODE_FEATURES, EDGE_FEATURES, DIRECTIONS})
    addition = ""

    def build(self, graphs: Batch, settings: NeuralSettings, seed: int) -> Network:
        """Return a network on K graphs, with weights from a seed."""
        return ModuleNetwork(self.module, graphs, seed, settings.gradient, settings.device)

    def exchange(self, network: Any, kept: Tensor, graphs: Sequence[Data], settings: NeuralSettings) -> None:
        """Take a network to those of its graphs that stay, and then to new ones."""
        network.exchange([*(network.graphs[slot] for slot in kept.tolist()), *graphs])


class Architecture(Protocol):
    """Makes the network of an agent on some graphs, and takes it to others."""

    @property
    def reads(self) -> frozenset[str]:
        """Return what the network reads of graphs."""

    @property
    def addition(self) -> str:
        """Return what was added to the node features of the first graphs, as a sentence; empty: nothing."""

    def build(self, graphs: Batch, settings: NeuralSettings, seed: int) -> Network:
        """Return a network on K graphs, with weights from a seed."""

    def exchange(self, network: Network, kept: Tensor, graphs: Sequence[Data], settings: NeuralSettings) -> None:
        """Take a network that `build` returned to those of its graphs that stay, `kept` `(n,)`, and then to new ones.

        Raises:
            ValueError: if it cannot read a graph; nothing is changed then.
        """


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
