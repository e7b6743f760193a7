"""Recognise the graphs of an observation, and remember the graphs of an agent."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from agents.contract.inputs import Instance, holds_graphs, make_data
from agents.contract.protocol import State

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

PLAY_CHANGING_GRAPHS = (
    *("gnn-*", "nn-*", "neural-*", "gntk-*", "gp-*", "lin-*", "wl-*"),
    *("epsilon-greedy", "squarecb", "random"),
)
"""Agents that support changing graphs, by name. `*` stands for every rule."""
Key = int
"""A 64-bit identifier of the content of a graph within one process."""


def plays_changing_graphs(agent: str) -> bool:
    """Return True if an agent of this package supports changing graphs with its default settings."""
    return any(fnmatch.fnmatch(agent, pattern) for pattern in PLAY_CHANGING_GRAPHS)


class FirstGraphs:
    """The graphs of `reset`. A second copy is kept only if they cannot be read again.

    Args:
        batch: the K graphs.
        observation: the observation of `reset`, possibly of the same graphs.
        read_again: returns the same batch later, or None to keep the batch.
    """

    def __init__(self, batch: Batch, observation: object, read_again: Callable[[], Batch] | None = None) -> None:
        self._kept, self._read_again = None if read_again else batch, read_again
        self._shown = tuple(map(key_of, observation)) if holds_graphs(observation) else None

    @cached_property
    def batch(self) -> Batch:
        """Return the K graphs and keep them from the first call on, when other graphs are shown."""
        return self._read_again() if self._read_again else self._kept

    @cached_property
    def empty(self) -> dict[str, Tensor]:
        """Return tensors of an empty graph with the same fields, without nodes or edges."""
        tensors = {name: getattr(self.batch, name) for name in ("x", "edge_attr")}
        return {name: tensor.new_zeros(0, *tensor.shape[1:]) for name, tensor in tensors.items() if tensor is not None}

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """Return the key of each graph."""
        return self._shown or tuple(_key_of_data(self.graph(k)) for k in range(self.batch.num_graphs))

    def graph(self, index: int, shown: Sequence[Instance] | None = None) -> Data:
        """Return a graph of `reset`, or one shown by an observation, with the same tensor fields."""
        graph: Data = self.batch.get_example(index) if shown is None else make_like(make_data(shown[index]), self.empty)
        return graph


def make_like(graph: Data, empty: Mapping[str, Tensor]) -> Data:
    """Return a graph with the same tensor fields and types as other graphs.

    Args:
        graph: a graph.
        empty: the tensors of an empty graph like the others: `FirstGraphs.empty`.

    Raises:
        ValueError: if the graph has another number of node or edge features.
    """
    tensors: dict[str, Tensor] = {}
    for name, mine in empty.items():
        given = getattr(graph, name)
        if given is None and graph.num_edges == 0:
            given = mine
        if given is None or given.shape[1:] != mine.shape[1:]:
            got = given if given is None else tuple(given.shape)
            raise ValueError(f"Expected graphs with `{name}` of {mine.shape[1]} columns, as at `reset`. Got {got}.")
        tensors[name] = given.to(mine.dtype)
    from torch_geometric.data import Data

    return Data(edge_index=graph.edge_index, **tensors)


@dataclass(frozen=True, eq=False)
class GraphMemory:
    """The graphs in an agent's memory, one in each slot."""

    keys: tuple[Key, ...]
    """Key of the graph in each slot."""
    graphs: tuple[Data, ...]
    """The graph in each slot."""
    offered: Tensor
    """`(K,)` int64. The slots of the graphs of the round, in their order."""

    @staticmethod
    def of(first: FirstGraphs) -> GraphMemory:
        """Return a memory of the graphs of `reset` alone. Equal graphs have separate slots."""
        indices = range(len(first.keys))
        return GraphMemory(first.keys, tuple(map(first.graph, indices)), torch.arange(len(first.keys)))

    @property
    def shown(self) -> tuple[Key, ...]:
        """Return the keys of the graphs of the round."""
        return tuple(self.keys[slot] for slot in self.offered.tolist())

    def showing(self, shown: Sequence[Key], graph: Callable[[int], Data], kept: Tensor) -> GraphMemory:
        """Return the memory for a round that shows other graphs.

        Args:
            shown: keys of the graphs of the round.
            graph: returns a graph of the round.
            kept: `(n,)` int64. Slots of the remaining graphs, which become the first n slots of the result.
        """
        keys, graphs = [self.keys[slot] for slot in kept.tolist()], [self.graphs[slot] for slot in kept.tolist()]
        slot_of = {key: slot for slot, key in reversed(list(enumerate(keys)))}
        for index, key in enumerate(shown):
            if key not in slot_of:
                slot_of[key] = len(keys)
                keys.append(key)
                graphs.append(graph(index))
        return GraphMemory(tuple(keys), tuple(graphs), torch.tensor([slot_of[key] for key in shown]))

    def state_dict(self) -> State:
        """Return the graphs, and the slots of the round."""
        return {"graphs": [graph.to_dict() for graph in self.graphs], "offered": self.offered.clone()}

    @staticmethod
    def from_state(state: State) -> GraphMemory:
        """Return the memory from a result of `state_dict`."""
        from torch_geometric.data import Data

        graphs = tuple(Data(**fields) for fields in state["graphs"])
        return GraphMemory(tuple(map(_key_of_data, graphs)), graphs, state["offered"].clone())


def key_of(graph: Instance) -> Key:
    """Return the key of a graph. Edges whose only feature is 1, as in an environment, have no features."""
    links, edges = graph.edge_links, graph.edges
    links = np.zeros((0, 2), np.int64) if links is None else np.ascontiguousarray(links, np.int64)
    plain = edges is None or edges.size == 0 or (edges.shape[1] == 1 and bool((edges == 1).all()))
    features = b"" if plain else np.ascontiguousarray(edges, np.float32).tobytes()
    return hash((graph.nodes.shape, np.ascontiguousarray(graph.nodes, np.float32).tobytes(), links.tobytes(), features))


def _key_of_data(graph: Data) -> Key:
    edges = None if graph.edge_attr is None else graph.edge_attr.numpy()
    return key_of(Instance(graph.x.numpy(), edges, graph.edge_index.T.numpy()))
