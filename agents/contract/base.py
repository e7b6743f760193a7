"""Base class of our agents: it checks inputs, computes on one thread, and saves the state."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar, final

import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch_geometric.data import Batch

from agents.contract.inputs import check_observation, derive_streams, read_feedback, read_graphs, read_mask
from agents.contract.protocol import GraphSetLike, State
from agents.contract.state import check_form, check_identity, form_of, make_identity
from gntk import one_thread

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


class BaseAgent(ABC, Generic[S]):
    """The part that all agents share: subclasses implement `begin`, `choose` and `learn`, and state what they remember.

    An agent need not use this class; only the protocol `agents.contract.Agent` is binding. The methods marked final
    check graphs, masks and rewards before anything changes, compute on one thread, and load a state only into an agent
    with equal settings on equal graphs.

    Args:
        settings: a frozen dataclass of JSON values.

    Attributes:
        generator: random generator for everything after `begin`.
        num_graphs: K.
        algorithm: version of the algorithm, raised when equal settings no longer choose the same actions. Results and
            saved states of different versions are never mixed.
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
            seed: seed of the initial weights.
        """

    @abstractmethod
    def choose(self, mask: Tensor) -> int:
        """Return the index of a graph that `mask`, `(K,)` bool, allows."""

    @abstractmethod
    def learn(self, actions: Tensor, rewards: Tensor) -> None:
        """Learn from actions `(n,)` int64 and finite rewards `(n,)` float64, n >= 1."""

    def read(self, observation: object, graph_set: GraphSetLike | None) -> Batch:
        """Return the K graphs; a subclass refuses here graphs that it cannot play on."""
        return read_graphs(observation, graph_set)

    def known(self) -> list[Tensor]:
        """Return tensors that identify the graphs of a saved state; by default only K."""
        return [torch.tensor(self.num_graphs)]

    def state(self) -> State:
        """Return copies of everything that `begin` does not restore, except the generator.

        What grows must be empty, or None, before the first reward: everything else must keep its keys, types and
        shapes, or is refused by `load_state_dict`.
        """
        return {}

    def restore(self, state: State) -> None:
        """Continue from what `state` returned, here or in another agent.

        Whatever this raises, `load_state_dict` restores the state before, and raises a ValueError.
        """

    @final
    @one_thread()
    def reset(self, observation: object, seed: int = 0, graph_set: GraphSetLike | None = None) -> None:
        """Forget everything and take in the graphs; see `agents.contract.Agent`."""
        network_seed, generator = derive_streams(seed)
        graphs = self.read(observation, graph_set)
        check_observation(observation, graphs.num_graphs)
        self.__dict__.pop("num_graphs", None)  # an agent whose `begin` fails must be reset before it plays
        self.begin(graphs, network_seed)
        self._form = form_of({"identity": None, **self.state(), "generator": generator.get_state()})
        self.generator, self.num_graphs = generator, graphs.num_graphs

    @final
    @one_thread()
    def select_action(self, observation: object, action_mask: ArrayLike | None = None) -> int:
        """Return the index of the graph to play."""
        self.check_reset()
        check_observation(observation, self.num_graphs)
        return self.choose(read_mask(action_mask, self.num_graphs))

    @final
    @one_thread()
    def update(self, observation: object, action: ArrayLike, reward: ArrayLike) -> None:
        """Check one reward or many, and learn from them."""
        self.check_reset()
        check_observation(observation, self.num_graphs)
        self.learn(*read_feedback(action, reward, self.num_graphs))

    @final
    def state_dict(self) -> State:
        """Return everything that `reset` does not restore, and the identity of the agent and its graphs."""
        return {"identity": self._identity(), **self.state(), "generator": self.generator.get_state()}

    @final
    @one_thread()
    def load_state_dict(self, state: State) -> None:
        """Continue where `state` was saved; call `reset` with the same graphs first.

        Raises:
            ValueError: if the state belongs to other settings, graphs or another version of the algorithm, or if
                anything in it is missing, superfluous, not finite, or of another type or shape; nothing is changed
                then.
        """
        check_identity(state, self._identity())
        check_form(state, self._form)
        torch.Generator().set_state(state["generator"])
        before = self.state()
        try:
            self.restore(state)
        except Exception as error:  # a stranger's values may raise anything in an agent
            self.restore(before)
            raise ValueError(f"Expected a state made by `state_dict`. Got one that does not fit: {error}") from error
        self.generator.set_state(state["generator"])

    @final
    def check_reset(self) -> None:
        """Refuse an agent that has not been reset.

        Raises:
            RuntimeError: if the agent has no graphs yet.
        """
        if not hasattr(self, "num_graphs"):
            raise RuntimeError(
                "Expected `reset` first. Got an agent without graphs. Call agent.reset(observation, seed=0)."
            )

    def _identity(self) -> State:
        self.check_reset()
        settings = dataclasses.asdict(self.settings)
        if "device" in settings:
            settings["device"] = "cpu"  # a state saved on one device fits all
        return make_identity(settings, self.known(), self.algorithm)
