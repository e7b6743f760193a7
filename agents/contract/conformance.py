"""Check on a few small graphs that an agent follows the protocol."""

from __future__ import annotations

import dataclasses
import json
import random
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.contract.inputs import Instance, make_data
from agents.contract.protocol import Agent, MeanPredictor, State
from agents.contract.reading import READABLE, BlindAgentWarning, name_readings

if TYPE_CHECKING:
    from torch_geometric.data import Data

AgentFactory = Callable[[], Agent]
NUM_GRAPHS = 5
INDICES, ALL_ALLOWED = np.arange(NUM_GRAPHS), np.ones(NUM_GRAPHS, np.int8)
METHODS = ("reset", "select_action", "update", "state_dict", "load_state_dict")


class AgentCheckError(AssertionError):
    """Raised if an agent fails checks of the protocol.

    Args:
        problems: one line for each failed check, also available as an attribute.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("The agent does not follow the protocol:\n" + "\n".join(f"- {p}" for p in problems))
        self.problems = problems


def check_agent(factory: AgentFactory, needs: str = "any") -> tuple[str, ...]:
    """Check that an agent follows the protocol, as Gymnasium's `check_env` does for environments.

    Args:
        factory: makes a new agent at each call.
        needs: "any", or "molecules" for an agent that always needs a `graph_set` of molecules.

    Returns:
        A sentence about the parts of a graph that the agent reads, and one for each check.

    Raises:
        AgentCheckError: if a check fails. The message lists all failed checks with the agent's behaviour.
    """
    if needs not in ("any", "molecules"):
        raise ValueError(f'Expected `needs` to be "any" or "molecules". Got {needs!r}.')
    missing = [name for name in METHODS if not callable(getattr(factory(), name, None))]
    if missing:
        raise AgentCheckError([f"methods: expected {', '.join(METHODS)}. Missing: {', '.join(missing)}."])
    checks = _Checks(factory, _Graphs() if needs == "any" else _Molecules())
    skipped = ("_",) if needs == "any" else ("_", "reads_observations")
    asked = [getattr(checks, name) for name in vars(_Checks) if not name.startswith(skipped)]
    faults = dict[str, str | None]()
    for check in asked:
        try:
            with warnings.catch_warnings(action="ignore", category=BlindAgentWarning):  # the rewards are artificial
                fault = check()
        except Exception as error:  # noqa: BLE001 - an unknown agent may raise any exception, and each is a failure
            fault = f"raised {type(error).__name__}: {error}"
            if _Graphs.__name__ in fault or _Molecules.__name__ in fault:
                fault += ". A graph set need have no more than `to_pyg()`, which returns the list of graphs"
        faults[check.__doc__] = fault
    if problems := [f"{claim} It {fault}." for claim, fault in faults.items() if fault]:
        raise AgentCheckError(problems)
    return f"It reads {name_readings(getattr(factory(), 'reads', None))}.", *faults


class _Graphs:
    """The graphs of `_observation`, as a graph set."""

    def to_pyg(self) -> list[Data]:
        return [make_data(graph) for graph in _observation(INDICES)]


class _Molecules(_Graphs):
    """The same graphs with SMILES, chains of as many atoms, for agents that need molecules."""

    smiles = tuple("C" * nodes for nodes in range(1, NUM_GRAPHS + 1))


@dataclasses.dataclass(frozen=True)
class _Checks:
    """The checks: each method without an underscore returns a deviation from its claim, or None."""

    _factory: AgentFactory
    _graphs: _Graphs

    def _ready(self, seed: int = 0, rounds: int = 0, agent: Agent | None = None) -> Agent:
        """Return a new or given agent after `reset` and some rounds."""
        agent = self._factory() if agent is None else agent
        agent.reset(INDICES, seed=seed, graph_set=self._graphs)
        list(_play(agent, rounds))
        return agent

    def _taught(self, best: int) -> Agent:
        """Return an agent with 12 rewards for each graph: 1 for the best, 0 for the others."""
        agent, actions = self._ready(), np.tile(INDICES, 12)
        agent.update(INDICES, actions, (actions == best).astype(float))
        return agent

    def tells_its_settings(self) -> str | None:
        """`settings` is a frozen dataclass of JSON values, which identifies the agent in results."""
        settings: Any = getattr(self._factory(), "settings", None)
        if not getattr(getattr(settings, "__dataclass_params__", None), "frozen", False):
            return f"has {settings!r}, which is no frozen dataclass"
        json.dumps(dataclasses.asdict(settings), allow_nan=False)  # raises a TypeError or ValueError that says why not
        return None

    def says_what_it_reads(self) -> str | None:
        """`reads`, which need not exist, is a frozenset of what it reads of graphs, out of `READABLE`."""
        reads: object = getattr(self._factory(), "reads", frozenset())
        return None if isinstance(reads, frozenset) and reads <= {*READABLE} else f"has {reads!r}"

    def reads_observations(self) -> str | None:
        """`reset` takes the graphs from an observation (a tuple of `GraphInstance`) if no `graph_set` is given."""
        twin = self._factory()
        twin.reset(_observation(INDICES), seed=0)
        return _compare(twin, self._ready(), 8)

    def counts_the_graphs(self) -> str | None:
        """An observation of fewer graphs makes it play one of these, or gets a ValueError."""
        choices = _choose(self._ready(), _observation(range(3)))
        return f"played {choices} on 3 graphs" if choices and max(choices) > 2 else None

    def sees_other_graphs(self) -> str | None:
        """An observation of the graphs in another order decides what it plays, or gets a ValueError."""
        first, last = (_choose(self._taught(best), _observation(INDICES)) for best in (0, NUM_GRAPHS - 1))
        if first is None:
            return "refused the graphs of `reset`"
        if first == last:
            return None  # an agent without predictions may ignore the order
        choices = _choose(self._taught(best=0), _observation(INDICES[::-1]))
        return f"played {choices}, as if they were in the order of `reset`" if choices == first else None

    def returns_indices(self) -> str | None:
        """`select_action` returns a Python int that is an index of the graph set."""
        actions = _play(self._ready(), 10)
        return next((f"returned {a!r}" for a in actions if type(a) is not int or not 0 <= a < NUM_GRAPHS), None)

    def keeps_to_the_mask(self) -> str | None:
        """`select_action` plays only where `action_mask` is 1."""
        agent = self._ready()
        for mask in (*np.eye(NUM_GRAPHS, dtype=np.int8), *np.eye(NUM_GRAPHS, NUM_GRAPHS + 3, dtype=np.int8)):
            if (action := agent.select_action(INDICES, mask)) != mask.argmax():  # masks may be padded with zeros
                return f"played {action} where only {mask.argmax()} of {len(mask)} entries is allowed"
        return None

    def repeats_itself(self) -> str | None:
        """Equal seeds give equal actions, also after a second `reset`."""
        agent = self._ready(seed=3)
        fault = _compare(agent, self._ready(seed=3), 12)
        return fault or _compare(self._ready(seed=3, agent=agent), self._ready(seed=3), 12)

    def leaves_global_generators_alone(self) -> str | None:
        """All randomness comes from the seed of `reset`, none from global generators."""
        before = _global_generators()
        self._ready(rounds=5)
        names = [name for name, state in _global_generators().items() if state != before[name]]
        return f"drew from the global generator of {' and '.join(names)}" if names else None

    def restores_its_state(self) -> str | None:
        """`load_state_dict` after `reset` with any seed continues exactly where `state_dict` was taken."""
        agent, twin = self._ready(rounds=8), self._ready(seed=1)
        twin.load_state_dict(agent.state_dict())
        hint = "the state must hold everything that `update` changes (in a `BaseAgent`: write `state` and `restore`)"
        return (fault := _compare(twin, agent, 8)) and f"{fault}: {hint}"

    def saves_copies(self) -> str | None:
        """A saved state stays as it was while the agent, or another one that loaded it, learns on."""
        agent, twin = self._ready(rounds=4), self._ready(seed=1)
        state = agent.state_dict()
        saved = {name: _snapshot(value) for name, value in state.items()}
        twin.load_state_dict(state)
        _compare(agent, twin, 2)  # as both learn on
        changed = [f"`{name}`" for name, value in state.items() if _snapshot(value) != saved.get(name)]
        return f"changed {', '.join(changed)}: save and load copies of tensors (`clone`)" if changed else None

    def learns_from_each_reward(self) -> str | None:
        """`update` takes arrays of many results, before any `select_action`, and learns from each as one by one."""

        def learnt(rewards: NDArray[np.float64], calls: int) -> object:
            agent = self._ready()
            for some in np.split(np.arange(3), calls):
                agent.update(INDICES, some, rewards[some])
            return _snapshot(agent.state_dict())

        rewards = np.array([0.5, 1.0, 2.0])
        for name, more in zip(("first", "second", "third"), 3.0 * np.eye(3), strict=True):
            at_once, one_by_one = (learnt(rewards, calls) == learnt(rewards + more, calls) for calls in (1, 3))
            if at_once and not one_by_one:
                return f"is in the same state for any {name} is"
        return None

    def refuses_bad_feedback(self) -> str | None:
        """`update` refuses an unknown graph or a reward that is not finite with a ValueError, and changes nothing."""
        agent, twin = self._ready(rounds=3), self._ready(rounds=3)
        for action, reward in ((-1, 0.0), (NUM_GRAPHS, 0.0), (0, float("nan")), (0, float("inf"))):
            try:
                agent.update(INDICES, action, reward)
            except ValueError:
                continue
            return f"took reward {reward} of graph {action}"
        return _compare(agent, twin, 6)

    def predicts_without_a_trace(self) -> str | None:
        """`predict_means`, if it exists, returns a finite number for each graph, and changes no later choice."""
        agent, twin = self._ready(), self._ready()
        if not isinstance(agent, MeanPredictor):
            return None
        for _ in range(8):
            means = np.asarray(agent.predict_means())
            if means.shape != (NUM_GRAPHS,) or not np.isfinite(means).all():
                return f"returned {means} for {NUM_GRAPHS} graphs"
            if fault := _compare(agent, twin, 1):
                return fault
        return None


def _play(agent: Agent, rounds: int) -> Iterator[int]:
    for _ in range(rounds):
        yield (action := agent.select_action(INDICES, ALL_ALLOWED))
        agent.update(INDICES, action, 0.1 * action)


def _compare(agent: Agent, twin: Agent, rounds: int) -> str | None:
    """Play some rounds with two agents, and return the difference between them, or None."""
    played, expected = list(_play(agent, rounds)), list(_play(twin, rounds))
    return None if played == expected else f"played {played} instead of {expected}"


def _choose(agent: Agent, observation: tuple[Instance, ...]) -> list[int] | None:
    """Return ten choices, or None if the agent refuses the graphs."""
    try:
        return [agent.select_action(observation) for _ in range(10)]
    except ValueError:
        return None


def _observation(order: Iterable[int]) -> tuple[Instance, ...]:
    """Return five paths of one to five nodes with two features in some order, the k-th with k links."""
    nodes = np.random.default_rng(0).normal(size=(NUM_GRAPHS, NUM_GRAPHS, 2)).astype(np.float32)
    pairs = [[(a, b) for a in range(k + 1) for b in (a - 1, a + 1) if 0 <= b <= k] for k in range(NUM_GRAPHS)]
    links = [np.array(each, np.int64).reshape(-1, 2) for each in pairs]
    return tuple(Instance(nodes[k, : k + 1], np.ones((2 * k, 1), np.float32), links[k]) for k in order)


def _global_generators() -> dict[str, object]:
    legacy: State = np.random.get_state(legacy=False)  # noqa: NPY002
    return {"torch": _snapshot(torch.get_rng_state()), "NumPy": _snapshot(legacy), "Python": random.getstate()}


def _snapshot(state: object) -> object:
    """Return a copy of a state with arrays as texts, so that `==` compares all of it."""
    if isinstance(state, dict):
        return {name: _snapshot(value) for name, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [_snapshot(value) for value in state]
    return repr(state.tolist()) if isinstance(state, (torch.Tensor, np.ndarray)) else state
