"""Base class of our agents: read what comes in, keep to one thread, and save the state."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar, final

import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch_geometric.data import Batch

from agents.contract.inputs import derive_streams, read_feedback, read_graphs, read_mask
from agents.contract.protocol import GraphSetLike, State
from agents.contract.state import check_identity, make_identity
from gntk import one_thread

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


class BaseAgent(ABC, Generic[S]):
    """The part that all agents share: a family fills in `begin`, `choose` and `learn`, and says what it remembers.

    The protocol (`agents.contract.Agent`) is the contract; nobody has to use this class. What it does is final: graphs,
    masks and rewards are read and checked before anything changes, everything is computed on one thread, and a state
    goes to an agent with equal settings on equal graphs only.

    Args:
        settings: a frozen dataclass of JSON values.

    Attributes:
        generator: of all randomness after `begin`.
        num_graphs: K.
        algorithm: raised when equal settings choose other actions than an earlier version did; results and saved
            states of different versions are never mixed.
    """

    algorithm: int = 1
    generator: torch.Generator
    num_graphs: int

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def begin(self, graphs: Batch, seed: int) -> None:
        """Take in the graphs, and start with nothing observed.

        Args:
            graphs: K graphs.
            seed: of initial weights.
        """

    @abstractmethod
    def choose(self, mask: Tensor) -> int:
        """Return the index of a graph that `mask`, bool `(K,)`, allows."""

    @abstractmethod
    def learn(self, actions: Tensor, rewards: Tensor) -> None:
        """Learn from int64 `(n,)` actions and finite float64 `(n,)` rewards, n >= 1."""

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Batch:
        """Return the K graphs; a family that needs more of them than most refuses others here."""
        return read_graphs(observation, graph_set)

    def known(self) -> list[Tensor]:
        """Return what is known of the graphs, by which states are told apart; by default only K."""
        return [torch.tensor(self.num_graphs)]

    def state(self) -> State:
        """Return copies of all that `begin` does not restore, the generator aside."""
        return {}

    def restore(self, state: State) -> None:
        """Replace what `state` returns by what it returned elsewhere."""

    @final
    @one_thread()
    def reset(self, observation: object, seed: int = 0, graph_set: GraphSetLike | None = None) -> None:
        """Forget everything and take in the graphs; see `agents.contract.Agent`."""
        network_seed, generator = derive_streams(seed)
        graphs = self.read(observation, graph_set)
        self.__dict__.pop("num_graphs", None)  # an agent whose `begin` fails must be reset before it plays
        self.begin(graphs, network_seed)
        self.generator, self.num_graphs = generator, graphs.num_graphs

    @final
    @one_thread()
    def select_action(self, observation: object, action_mask: ArrayLike | None = None) -> int:
        """Return the index of the graph to play."""
        self.check_reset()
        return self.choose(read_mask(action_mask, self.num_graphs))

    @final
    @one_thread()
    def update(self, observation: object, action: ArrayLike, reward: ArrayLike) -> None:
        """Learn from one reward or many, once they are checked."""
        self.check_reset()
        self.learn(*read_feedback(action, reward, self.num_graphs))

    @final
    def state_dict(self) -> State:
        """Return all that `reset` does not restore, and whose it is."""
        return {"identity": self._identity(), **self.state(), "generator": self.generator.get_state()}

    @final
    @one_thread()
    def load_state_dict(self, state: State) -> None:
        """Go on where `state` was taken; `reset` on the same graphs must come first.

        Raises:
            ValueError: if the state is of other settings or graphs; nothing is changed then.
        """
        check_identity(state, self._identity(), (*self.state(), "generator"))
        self.restore(state)
        self.generator.set_state(state["generator"])

    @final
    def check_reset(self) -> None:
        """Refuse to go on with an agent that has not been reset.

        Raises:
            RuntimeError: if it knows no graphs yet.
        """
        if not hasattr(self, "num_graphs"):
            raise RuntimeError(
                "Expected `reset` first: the agent knows no graphs. Call agent.reset(observation, seed=0)."
            )

    def _identity(self) -> State:
        self.check_reset()
        settings = dataclasses.asdict(self.settings)
        if "device" in settings:
            settings["device"] = "cpu"  # a state of one device is a state of any
        return make_identity(settings, self.known(), self.algorithm)
