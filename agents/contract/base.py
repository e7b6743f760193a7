"""Base class of our agents, which checks inputs, computes on one thread, and saves the state."""

from __future__ import annotations

import dataclasses
import hashlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar, final

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from agents.contract.graph_memory import PLAY_CHANGING_GRAPHS, FirstGraphs, GraphMemory, key_of
from agents.contract.inputs import derive_streams, holds_graphs, read_feedback, read_graphs, read_mask
from agents.contract.protocol import GraphSetLike, MoleculeSetLike, State
from agents.contract.reading import NODE_FEATURES, SMILES, AddedFeaturesWarning, BlindAgentWarning, as_read, blindness
from gntk import one_thread as one_thread

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from torch_geometric.data import Batch, Data

S = TypeVar("S", bound="DataclassInstance")

NOTHING = object()  # no observation


class BaseAgent(ABC, Generic[S]):
    """Base class of all agents. Subclasses implement `begin`, `choose` and `learn`, and declare their state.

    Agents need not use this class: only the protocol `agents.contract.Agent` is binding. The methods marked final check
    graphs, masks and rewards before any change, compute on one thread, and load a state only into an agent with equal
    settings on equal graphs.

    Args:
        settings: a frozen dataclass of JSON values.

    Attributes:
        generator: random generator for everything after `begin`.
        num_graphs: K, in the current round.
        algorithm: version of the algorithm, raised when equal settings no longer choose the same actions. Results and
            saved states of different versions are never mixed.
        reads: the parts of a graph that the agent reads, out of `agents.contract.READABLE`. Empty if it uses only
            rewards. Graphs of `begin` and `meet` have each edge in both directions, unless the agent reads directions.
        learns: True if rewards change the agent's actions.
        blindness: sentences about differences between the graphs of `reset` that the agent ignores, or empty.
        addition: a sentence about features that the agent added to the graphs of `reset`, or empty.
        name: name in the registry, or empty for an agent of another class.
    """

    algorithm: int = 1
    reads: frozenset[str] = frozenset({NODE_FEATURES})
    learns: bool = True
    blindness: str = ""
    addition: str = ""
    name: str = ""
    generator: torch.Generator
    num_graphs: int
    _memory: GraphMemory | None = None  # until an observation shows other graphs than those of `reset`

    def __init__(self, settings: S) -> None:
        self.settings = settings

    def __repr__(self) -> str:
        """Return the name of the agent with its non-default settings."""
        values = [(field, getattr(self.settings, field.name)) for field in dataclasses.fields(self.settings)]
        changed = (f"{field.name}={value!r}" for field, value in values if value != field.default)
        return f"{self.name or type(self).__name__}({', '.join(changed)})"

    @abstractmethod
    def begin(self, graphs: Batch, seed: int) -> None:
        """Process the graphs and start without observations.

        Args:
            graphs: K graphs.
            seed: seed of the initial weights.
        """

    @abstractmethod
    def choose(self, mask: Tensor) -> int:
        """Return the index of a graph of the round that `mask`, `(K,)` bool, allows."""

    @abstractmethod
    def learn(self, slots: Tensor, rewards: Tensor) -> None:
        """Learn from the graphs in slots `(n,)` int64 and finite rewards `(n,)` float64, n >= 1.

        The slot of a graph is its index at `reset`, until other graphs are shown (`meet`).
        """

    def check_size(self, num_graphs: int) -> None:
        """Refuse more graphs per round than memory or time allow, before any computation. By default, refuse none.

        Raises:
            ValueError: if there are too many. The message states the required resources and an alternative.
        """

    def meet(self, kept: Tensor, graphs: Sequence[Data]) -> None:
        """Keep the graphs in the slots `kept`, which get the first slots, and add new ones.

        A subclass that implements this method, and reads `offered` in `choose`, supports changing graphs.

        Args:
            kept: `(n,)` int64. Slots of the remaining graphs: `worth_keeping`, or none.
            graphs: the new graphs, possibly none. `offered` and `num_graphs` are already those of the new round.

        Raises:
            ValueError: always, unless a subclass supports changing graphs. The agent must be unchanged after any
                exception.
        """
        raise ValueError(
            f"Expected the graphs of `reset` in each observation, because {type(self).__name__} plays on one graph "
            f"set. Got other graphs. Agents that play on graphs that change: {', '.join(PLAY_CHANGING_GRAPHS)}."
        )

    def worth_keeping(self) -> Tensor:
        """Return the slots of graphs to remember when other graphs are shown, `(n,)` int64, by default none."""
        return torch.zeros(0, dtype=torch.int64)

    @property
    def offered(self) -> Tensor | None:
        """Return the slot of each graph of the round, `(K,)` int64, or None if slot k holds graph k, as at `reset`."""
        return None if self._memory is None else self._memory.offered

    def reads_here(self) -> frozenset[str]:
        """Return the parts of the graphs of `reset` that the agent reads, after `begin`. By default, return `reads`."""
        return self.reads

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Batch:
        """Return the K graphs. A subclass refuses unsupported graphs here."""
        return read_graphs(observation, graph_set)

    def known(self) -> list[Tensor]:
        """Return tensors that identify the graphs of a saved state, by default only K."""
        return [torch.tensor(self.num_graphs)]

    def state(self) -> State:
        """Return copies of all state that `begin` does not restore, except the generator."""
        return {}

    def restore(self, state: State) -> None:
        """Continue from the result of `state`, of this or another agent."""

    @final
    @one_thread()
    def reset(self, observation: object, seed: int = 0, graph_set: GraphSetLike | None = None) -> None:
        """Forget everything and read the graphs (see `agents.contract.Agent`).

        Warns:
            BlindAgentWarning: if the agent ignores a difference between the graphs.
            AddedFeaturesWarning: if the agent adds to the features of the graphs.
        """
        network_seed, generator = derive_streams(seed)
        graphs = self.read(observation, graph_set)
        if holds_graphs(observation) and len(observation) != graphs.num_graphs:
            raise ValueError(f"Expected an observation of {graphs.num_graphs} graphs. Got {len(observation)}.")
        self.check_size(graphs.num_graphs)
        self.__dict__.pop("num_graphs", None)  # an agent whose `begin` fails must be reset before it plays
        self._memory = None
        seen = as_read(graphs, self.reads, getattr(graph_set, "directed", None))
        self.begin(seen, network_seed)
        self.generator, self.num_graphs = generator, graphs.num_graphs
        knows_smiles = SMILES in self.reads and isinstance(graph_set, MoleculeSetLike)
        lasts = knows_smiles or getattr(graph_set, "never_changes", False)  # molecules are made when graphs are shown
        again = partial(read_graphs, None, graph_set) if lasts else None
        self._first, self._looked_at = FirstGraphs(graphs, observation, again), observation
        self._known = self.known()
        reads = frozenset[str]() if knows_smiles else self.reads_here()
        self.blindness = blindness(type(self).__name__, reads, graphs, seen)
        if self.blindness:
            warnings.warn(self.blindness, BlindAgentWarning, stacklevel=3)
        if self.addition:
            warnings.warn(f"{type(self).__name__}: {self.addition}", AddedFeaturesWarning, stacklevel=3)

    @final
    @one_thread()
    def select_action(self, observation: object, action_mask: ArrayLike | None = None) -> int:
        """Return the index of the graph to play."""
        self.look_at(observation)
        return self.choose(read_mask(action_mask, self.num_graphs))

    @final
    @one_thread()
    def update(self, observation: object, action: ArrayLike, reward: ArrayLike) -> None:
        """Check one reward or many, and learn from them."""
        self.check_reset()
        if observation is not self._looked_at:
            self.look_at(observation)
        actions, rewards = read_feedback(action, reward, self.num_graphs)
        self.learn(actions if self.offered is None else self.offered[actions], rewards)

    @final
    def look_at(self, observation: object) -> None:
        """Play on the graphs of this observation from now on. None or indices mean those of `reset`.

        Raises:
            ValueError: if an agent for one set gets graphs other than those of `reset`. The agent is then unchanged.
        """
        self.check_reset()
        first, memory = self._first, self._memory
        shown = observation if holds_graphs(observation) else None
        if shown is not None or memory is not None:
            keys = first.keys if shown is None else tuple(map(key_of, shown))
            if keys != (first.keys if memory is None else memory.shown):
                self.check_size(len(keys))
                kept, graph = self.worth_keeping(), partial(first.graph, shown=shown)
                self._go_on(kept, (memory or GraphMemory.of(first)).showing(keys, graph, kept))
        self._looked_at = observation

    @final
    def state_dict(self) -> State:
        """Return all state that `reset` does not restore, and the identity of the agent and its graphs."""
        memory = None if self._memory is None else self._memory.state_dict()
        return {
            "identity": self._identity(),
            **self.state(),
            "graph_memory": memory,
            "generator": self.generator.get_state(),
        }

    @final
    @one_thread()
    def load_state_dict(self, state: State) -> None:
        """Continue from a saved state. Call `reset` with the same graphs first.

        Raises:
            ValueError: if the state belongs to other settings, other graphs or another version of the algorithm.
        """
        _check_identity(state, self._identity())
        memory = state["graph_memory"] and GraphMemory.from_state(state["graph_memory"])
        if memory or self._memory:
            self._go_on(torch.zeros(0, dtype=torch.int64), memory or GraphMemory.of(self._first))
            self._memory = memory
        self.restore(state)
        self.generator.set_state(state["generator"])
        self._looked_at = NOTHING

    @final
    def check_reset(self) -> None:
        """Raise an error if the agent was never reset.

        Raises:
            RuntimeError: if the agent has no graphs yet.
        """
        if not hasattr(self, "num_graphs"):
            raise RuntimeError("Expected `reset` first. Call agent.reset(observation, seed=0).")

    def _identity(self) -> State:
        """Return the data that a state and its agent must share: settings, a hash of the graphs, and version."""
        self.check_reset()
        settings = dataclasses.asdict(self.settings)
        if "device" in settings:
            settings["device"] = "cpu"  # a state saved on one device loads on all
        digest = hashlib.sha256()
        for tensor in self._known:
            digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
            digest.update(tensor.numpy().tobytes())
        return {"settings": settings, "graphs": digest.hexdigest(), "algorithm": self.algorithm}

    def _go_on(self, kept: Tensor, memory: GraphMemory) -> None:
        """Call `meet` with the graphs of a memory, in which those in the slots `kept` come first."""
        before = self._memory, self.num_graphs
        self._memory, self.num_graphs = memory, len(memory.offered)
        try:
            self.meet(kept, [as_read(graph, self.reads) for graph in memory.graphs[len(kept) :]])
        except BaseException:
            self._memory, self.num_graphs = before
            raise


def _check_identity(state: State, expected: State) -> None:
    """Refuse a state of other settings or graphs, or one that no agent saved.

    Raises:
        ValueError: if settings, graphs or versions of the algorithm differ. The message names the difference.
    """
    identity = state.get("identity")
    if identity is None:
        raise ValueError("Expected a state made by `state_dict`. Got one without identity.")
    mine, theirs = expected["settings"], identity["settings"]
    names = [name for name in {**mine, **theirs} if mine.get(name, NOTHING) != theirs.get(name, NOTHING)]
    if names:
        listed = ", ".join(f"`{name}`: {theirs.get(name)!r}" for name in names)
        raise ValueError(f"Expected the state of an agent with the same settings. Got another {listed}.")
    if expected["graphs"] != identity["graphs"]:
        raise ValueError("Expected the state of an agent on the same graphs. Got one on other graphs.")
    if identity["algorithm"] != expected["algorithm"]:
        raise ValueError(
            f"Expected the state of version {expected['algorithm']} of the agent's algorithm. Got one of version "
            f"{identity['algorithm']}, which plays differently. Give a new agent the same measurements by `update`."
        )
