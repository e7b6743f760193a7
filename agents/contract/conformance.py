"""Check on a few small graphs that an agent does what the protocol asks of it."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from agents.contract.protocol import Agent, MeanPredictor, State
from agents.contract.reading import READABLE, name_readings

if TYPE_CHECKING:
    from torch_geometric.data import Data

AgentFactory = Callable[[], Agent]
NUM_GRAPHS = 5
METHODS = ("reset", "select_action", "update", "state_dict", "load_state_dict")


class AgentCheckError(AssertionError):
    """An agent failed checks of the protocol.

    Args:
        problems: one line for each failed check; also an attribute.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("The agent does not follow the protocol:\n" + "\n".join(f"- {p}" for p in problems))
        self.problems = problems


class _Instance(NamedTuple):
    """A graph with the fields of Gymnasium's `GraphInstance`, without importing Gymnasium."""

    nodes: NDArray[np.float32]
    edges: NDArray[np.float32] | None
    edge_links: NDArray[np.int64] | None


class _Graphs:
    """A graph set of five paths of one to five nodes with two features."""

    def to_pyg(self) -> list[Data]:
        from torch_geometric.data import Data

        generator = torch.Generator().manual_seed(0)
        graphs = []
        for nodes in range(1, NUM_GRAPHS + 1):
            path = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])
            edges = torch.cat([path, path.flip(0)], dim=1)
            graphs.append(Data(x=torch.randn(nodes, 2, generator=generator), edge_index=edges))
        return graphs


class _Molecules(_Graphs):
    """The same with SMILES, paths of the same lengths, for agents that need molecules."""

    smiles = tuple("C" * nodes for nodes in range(1, NUM_GRAPHS + 1))


class _Subject(NamedTuple):
    """The agents that are checked, and the graph set on which they are."""

    factory: AgentFactory
    graphs: _Graphs


def check_agent(factory: AgentFactory, needs: str = "any") -> tuple[str, ...]:
    """Check that an agent follows the protocol, as Gymnasium's `check_env` does for environments.

    Args:
        factory: makes a new agent at each call.
        needs: "any"; or "molecules" for an agent that always needs a `graph_set` of molecules.

    Returns:
        What the agent reads, and what was checked, a sentence each.

    Raises:
        AgentCheckError: if a check fails; it lists all that do, and what the agent did.
    """
    if needs not in ("any", "molecules"):
        raise ValueError(f'Expected `needs` to be "any" or "molecules". Got {needs!r}.')
    missing = [name for name in METHODS if not callable(getattr(factory(), name, None))]
    if missing:
        raise AgentCheckError([f"methods: expected {', '.join(METHODS)}. Missing: {', '.join(missing)}."])
    checks = {check.__doc__ or "": check for check in CHECKS if needs == "any" or check is not _reads_observations}
    subject = _Subject(factory, _Graphs() if needs == "any" else _Molecules())
    problems = []
    for claim, check in checks.items():
        try:
            fault = check(subject)
        except Exception as error:  # noqa: BLE001 - an unknown agent may raise anything, and all of it is a fault
            fault = f"raised {type(error).__name__}: {error}"
            if _Graphs.__name__ in fault or _Molecules.__name__ in fault:
                fault += ". A graph set need have no more than `to_pyg()`, which returns the list of graphs"
        if fault:
            problems.append(f"{claim} It {fault}.")
    if problems:
        raise AgentCheckError(problems)
    return f"It reads {name_readings(getattr(factory(), 'reads', None))}.", *checks


def _ready(subject: _Subject, seed: int = 0) -> Agent:
    agent = subject.factory()
    agent.reset(np.arange(NUM_GRAPHS), seed=seed, graph_set=subject.graphs)
    return agent


def _play(agent: Agent, rounds: int) -> Iterator[int]:
    for _ in range(rounds):
        action = agent.select_action(np.arange(NUM_GRAPHS), np.ones(NUM_GRAPHS, np.int8))
        yield action
        agent.update(np.arange(NUM_GRAPHS), action, 0.1 * action)


def _returns_indices(subject: _Subject) -> str | None:
    """`select_action` returns a Python int that is an index of the graph set."""
    for action in _play(_ready(subject), 10):
        if type(action) is not int or not 0 <= action < NUM_GRAPHS:
            return f"returned {action!r}"
    return None


def _keeps_to_the_mask(subject: _Subject) -> str | None:
    """`select_action` plays only where `action_mask` is 1."""
    agent = _ready(subject)
    for allowed in range(NUM_GRAPHS):
        for length in (NUM_GRAPHS, NUM_GRAPHS + 3):  # zeros follow where the number of graphs varies
            mask = np.eye(length, dtype=np.int8)[allowed]
            action = agent.select_action(np.arange(NUM_GRAPHS), mask)
            if action != allowed:
                return f"played {action} where only {allowed} of {length} entries is allowed"
    return None


def _repeats_itself(subject: _Subject) -> str | None:
    """Equal seeds give equal actions, also after a second `reset`."""
    agent = _ready(subject, seed=3)
    first = list(_play(agent, 12))
    agent.reset(np.arange(NUM_GRAPHS), seed=3, graph_set=subject.graphs)
    for again in (list(_play(agent, 12)), list(_play(_ready(subject, seed=3), 12))):
        if again != first:
            return f"played {first}, then {again}"
    return None


def _leaves_global_generators_alone(subject: _Subject) -> str | None:
    """All randomness comes from the seed of `reset`, none from global generators."""
    before = _global_generators()
    list(_play(_ready(subject), 5))
    names = [name for name, state in _global_generators().items() if state != before[name]]
    return f"drew from the global generator of {' and '.join(names)}" if names else None


def _global_generators() -> dict[str, object]:
    legacy: State = np.random.get_state(legacy=False)  # noqa: NPY002
    return {"torch": _snapshot(torch.get_rng_state()), "NumPy": _snapshot(legacy), "Python": random.getstate()}


def _restores_its_state(subject: _Subject) -> str | None:
    """`load_state_dict` after `reset` with any seed continues exactly where `state_dict` was taken."""
    agent, twin = _ready(subject), _ready(subject, seed=1)
    list(_play(agent, 8))
    twin.load_state_dict(agent.state_dict())
    expected, played = list(_play(agent, 8)), list(_play(twin, 8))
    hint = "the state must hold everything that `update` changes (in a `BaseAgent`: write `state` and `restore`)"
    return None if expected == played else f"continued with {played} instead of {expected}: {hint}"


def _saves_copies(subject: _Subject) -> str | None:
    """A saved state stays as it was while the agent, or another one that loaded it, learns on."""
    agent, twin = _ready(subject), _ready(subject, seed=1)
    list(_play(agent, 4))
    state = agent.state_dict()
    saved = {name: _snapshot(value) for name, value in state.items()}
    twin.load_state_dict(state)
    for player in (agent, twin):
        list(_play(player, 2))
    changed = [f"`{name}`" for name, value in state.items() if _snapshot(value) != saved.get(name)]
    return f"changed {', '.join(changed)}: save and load copies of tensors (`clone`)" if changed else None


def _snapshot(state: object) -> object:
    """Return a copy of a state in which arrays are texts, so that `==` compares all of it."""
    if isinstance(state, dict):
        return {name: _snapshot(value) for name, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [_snapshot(value) for value in state]
    return repr(state.tolist()) if isinstance(state, (torch.Tensor, np.ndarray)) else state


def _takes_arrays(subject: _Subject) -> str | None:
    """`update` takes arrays of many results, before any `select_action`."""
    agent = _ready(subject)
    agent.update(np.arange(NUM_GRAPHS), np.array([0, 1, 1]), np.array([0.5, 1.0, 2.0]))
    list(_play(agent, 2))
    return None


def _learns_from_each_reward(subject: _Subject) -> str | None:
    """An agent that learns from rewards one by one and gets many in one `update` learns from each of them."""

    def learnt(rewards: NDArray[np.float64], calls: int) -> object:
        agent = _ready(subject)
        for some in np.split(np.arange(3), calls):
            agent.update(np.arange(NUM_GRAPHS), some, rewards[some])
        return _snapshot(agent.state_dict())

    rewards = np.array([0.5, 1.0, 2.0])
    for k, name in enumerate(("first", "second", "third")):
        others = rewards + 3.0 * (np.arange(3) == k)
        if learnt(rewards, calls=1) == learnt(others, calls=1) and learnt(rewards, calls=3) != learnt(others, calls=3):
            return f"is in the same state whatever the {name} is"
    return None


def _refuses_bad_rewards(subject: _Subject) -> str | None:
    """`update` refuses a reward that is not finite with a ValueError, and changes nothing."""
    agent, twin = _ready(subject), _ready(subject)
    for player in (agent, twin):
        list(_play(player, 3))
    for reward in (float("nan"), float("inf")):
        try:
            agent.update(np.arange(NUM_GRAPHS), 0, reward)
        except ValueError:
            continue
        return f"took {reward}"
    expected, played = list(_play(twin, 6)), list(_play(agent, 6))
    return None if expected == played else "played differently afterwards"


def _predicts_without_a_trace(subject: _Subject) -> str | None:
    """`predict_means`, which need not exist, returns a finite number for each graph, and changes no later choice."""
    agent, twin = _ready(subject), _ready(subject)
    if not isinstance(agent, MeanPredictor):
        return None
    for _ in range(8):
        means = np.asarray(agent.predict_means())
        if means.shape != (NUM_GRAPHS,) or not np.isfinite(means).all():
            return f"returned {means} for {NUM_GRAPHS} graphs"
        (played,), (expected,) = _play(agent, 1), _play(twin, 1)
        if played != expected:
            return f"played {played} instead of {expected} afterwards"
    return None


def _tells_its_settings(subject: _Subject) -> str | None:
    """`settings` is a frozen dataclass of JSON values, which identifies the agent in results."""
    settings = getattr(subject.factory(), "settings", None)
    if not dataclasses.is_dataclass(settings) or isinstance(settings, type):
        return f"has {settings!r}"
    if not type(settings).__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return "has settings that are not frozen"
    json.dumps(dataclasses.asdict(settings), allow_nan=False)
    return None


def _says_what_it_reads(subject: _Subject) -> str | None:
    """`reads`, which need not exist, is a frozenset of what it reads of graphs, out of `READABLE`."""
    reads: object = getattr(subject.factory(), "reads", frozenset())
    return None if isinstance(reads, frozenset) and reads <= {*READABLE} else f"has {reads!r}"


def _reads_observations(subject: _Subject) -> str | None:
    """`reset` takes the graphs from an observation (a tuple of `GraphInstance`) if no `graph_set` is given."""
    agent, twin = _ready(subject), subject.factory()
    twin.reset(_observation(range(NUM_GRAPHS)), seed=0)
    expected, played = list(_play(agent, 8)), list(_play(twin, 8))
    return None if expected == played else f"played {played} instead of {expected}"


def _counts_the_graphs(subject: _Subject) -> str | None:
    """An observation of fewer graphs makes it play one of these, or gets a ValueError."""
    observation = _observation(range(3))
    try:
        choices = _choices(_ready(subject), observation)
    except ValueError:
        return None
    return f"played {choices} on 3 graphs" if max(choices) > 2 else None


def _sees_other_graphs(subject: _Subject) -> str | None:
    """An observation of the graphs in another order decides what it plays, or gets a ValueError."""
    forward, backward = _observation(range(NUM_GRAPHS)), _observation(reversed(range(NUM_GRAPHS)))
    played = [_choices(_taught(subject, best), forward) for best in (0, NUM_GRAPHS - 1)]
    if played[0] == played[1]:
        return None  # an agent that does not believe anything need not look
    try:
        choices = _choices(_taught(subject, best=0), backward)
    except ValueError:
        return None
    return f"played {choices}, as if they were in the order of `reset`" if choices == played[0] else None


def _taught(subject: _Subject, best: int) -> Agent:
    """Return an agent that knows 12 rewards of each graph: 1 for the best, 0 for the others."""
    agent = _ready(subject)
    actions = np.tile(np.arange(NUM_GRAPHS), 12)
    agent.update(np.arange(NUM_GRAPHS), actions, (actions == best).astype(float))
    return agent


def _choices(agent: Agent, observation: tuple[_Instance, ...]) -> list[int]:
    return [agent.select_action(observation) for _ in range(10)]


def _observation(order: Iterable[int]) -> tuple[_Instance, ...]:
    """Return an observation of the graphs in some order."""
    graphs = _Graphs().to_pyg()
    return tuple(
        _Instance(graphs[k].x.numpy(), np.ones((graphs[k].num_edges, 1), np.float32), graphs[k].edge_index.T.numpy())
        for k in order
    )


def _refuses_unknown_graphs(subject: _Subject) -> str | None:
    """`update` refuses an action that is not an index of the graph set with a ValueError."""
    for action in (-1, NUM_GRAPHS):
        try:
            _ready(subject).update(np.arange(NUM_GRAPHS), action, 0.0)
        except ValueError:
            continue
        return f"took {action}"
    return None


CHECKS = (
    _tells_its_settings,
    _says_what_it_reads,
    _reads_observations,
    _counts_the_graphs,
    _sees_other_graphs,
    _refuses_unknown_graphs,
    _returns_indices,
    _keeps_to_the_mask,
    _repeats_itself,
    _leaves_global_generators_alone,
    _restores_its_state,
    _saves_copies,
    _takes_arrays,
    _learns_from_each_reward,
    _refuses_bad_rewards,
    _predicts_without_a_trace,
)
