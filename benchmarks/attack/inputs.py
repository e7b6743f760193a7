"""Give environments and agents input that makes no sense: it is refused in words and changes nothing, or is played."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from gymnasium.error import Error

import agents.zoo
import registry
from agents.contract import BatchAgent, plays_changing_graphs
from benchmarks.attack.attempts import Attempt, time_limit
from graph_bandit_env import GraphActionBandit, GraphActionBanditVector, GraphSet, from_smiles

REFUSALS = (ValueError, TypeError, Error)  # `Error` is Gymnasium's
DIVERGED = FloatingPointError  # what an agent may raise whose fit turned non-finite
K, BANDITS, SECONDS = 6, 3, 60  # seconds for an attempt
SMILES = ("CCO", "CCN", "c1ccccc1", "CC(=O)O", "CCCl", "CC#N")
SMALL = {
    **{name: {"width": 8, "steps": 2} for name in ("gnn", "nn-", "eps")},
    "mol": {"width": 4, "steps": 2},
    "sb3": {"rollout": 3, "batch_size": 3, "epochs": 1, "embedding": 4},
}
SMALL_ENV: dict[str, Any] = {"num_graphs": K, "num_nodes": 3, "feature_dim": 2}
EXTREMES = (1e160, -1e308, 1.7e308, 1e101, -1e99, 1e-320, -1e-200, 1e20, 0.0, 10**400)
NUMBERS = (-1, -(2**63), 0.5, 1e300, 1e-320, np.nan, np.inf, -np.inf, 1j)  # no index, and no entry of a mask
NO_INDICES = (*NUMBERS, K, 2**31, 2**63, 2**70, 0.0, 1.0, True, np.True_)
STRANGERS: tuple[Any, ...] = (None, "0", "1", b"1", "", [], {}, set(), object(), [None], [[1]], [[1], [1, 2]])

Rng = np.random.Generator


def attack(generator: Rng, folder: Path) -> Iterator[Attempt]:
    """Attack in turn what takes input, one agent after the other, without end."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    names = cycle(generator.permutation([name for name in registry.list_agents() if not registry.agent_origin(name)]))
    environments: dict[str, Callable[[Rng], str]] = {
        "arguments of environments": attack_arguments,
        "rewards of environments": attack_means,
        "actions of environments": attack_steps,
        "actions of vector environments": attack_vector_steps,
        "seeds and options of environments": attack_resets,
        "graphs of a set": attack_graphs,
    }
    players: dict[str, Callable[[Player, Rng], str]] = {
        "masks of agents": attack_masks,
        "rewards of agents": attack_rewards,
        "actions of agents": attack_actions,
        "observations of agents": attack_observations,
        "batches of agents": attack_batches,
    }
    for name in map(str, names):
        player = Player(name)
        for _ in range(4):
            for kind, attempt in environments.items():
                yield Attempt(kind, attempt(generator))
            for label, attempt_on in players.items():
                fault = attempt_on(player, generator)
                yield Attempt(label, f"{name}: {fault}" if fault else "")
                player = Player(name) if fault else player
            fault = attack_settings(name, generator)
            yield Attempt("settings of agents", f"{name}: {fault}" if fault else "")


class Player:
    """An agent on six graphs that has learnt a little, and what it was when it was last looked at."""

    def __init__(self, name: str, **settings: Any) -> None:
        self.name, self.agent = name, cast(Any, registry.make_agent(name, **{**SMALL.get(name[:3], {}), **settings}))
        self.graph_set = from_smiles(SMILES, [0.0] * K) if registry.agent_needs(name) == "molecules" else graphs(K)
        self.agent.reset(None, seed=0, graph_set=self.graph_set)
        for action in (0, 1, 2, 1):
            self.agent.update(None, action, 0.5 * action)
        self.agent.select_action(None)

    def try_out(self, use: Callable[[Any], object], sense: bool | None, words: str) -> str:
        """Use the agent once as in the function `try_out`, and play a round if it did not refuse."""
        before, answers = fingerprint(self.agent.state_dict()), []

        def once() -> list[object]:
            answers.append(use(self.agent))
            return answers

        fault = try_out(once, sense, words)
        if fault or answers:
            return fault or self.plays_on(words)
        same = fingerprint(self.agent.state_dict()) == before
        return "" if same else f"refused {words}, and has changed"

    def plays_on(self, words: str) -> str:
        """Play a round, and return what is wrong with it."""

        def play() -> list[object]:
            action = self.agent.select_action(None)
            self.agent.update(None, action, 0.25)
            forecast = vars(self.agent.predict()) if isinstance(self.agent, BatchAgent) else {}
            return [forecast, self.agent.state_dict(), 0.0 if type(action) is int and 0 <= action < K else np.nan]

        return try_out(play, None, f"{words}, then a round")


def attack_masks(player: Player, rng: Rng) -> str:
    """Choose with a mask, most often one that makes no sense."""
    mask: Any = rng.integers(2, size=K).tolist()
    sense = any(mask) and rng.random() < 0.2
    if not sense and any(mask):
        mask = mangle(mask, (*NUMBERS, 2, *STRANGERS[:5]), rng)
    use = lambda agent: 0.0 if mask[agent.select_action(None, mask)] else np.nan  # noqa: E731
    return player.try_out(use, sense, f"mask {mask!r}")


def attack_rewards(player: Player, rng: Rng) -> str:
    """Teach rewards of any size, and values that are not numbers."""
    if rng.random() < 0.7:
        rewards = [pick((*EXTREMES, float(rng.normal()) * 10.0 ** rng.integers(-320, 300)), rng) for _ in range(3)]
        actions = rng.integers(K, size=3).tolist()
        return player.try_out(lambda agent: agent.update(None, actions, rewards), None, f"rewards {rewards!r}")
    reward = pick((np.nan, np.inf, -np.inf, 1j, *STRANGERS), rng)
    return player.try_out(lambda agent: agent.update(None, 0, reward), False, f"reward {reward!r}")


def attack_actions(player: Player, rng: Rng) -> str:
    """Teach rewards of graphs that there are not."""
    bad = pick((*NO_INDICES, *STRANGERS), rng)
    action = pick((bad, [bad], np.array([True, False]), np.array([0.0, 1.0])), rng)
    reward = [1.0] * len(action) if isinstance(action, (list, np.ndarray)) else 1.0
    return player.try_out(lambda agent: agent.update(None, action, reward), False, f"action {action!r}")


def attack_observations(player: Player, rng: Rng) -> str:
    """Show another number of graphs than the agent has, which some agents can play."""
    observation = pick((tuple, list), rng)(graphs(count := int(rng.choice([1, 3, K - 1, K + 1, 9]))))
    uses: dict[Callable[[Any], object], bool] = {
        lambda agent: agent.select_action(observation): plays_changing_graphs(player.name),
        lambda agent: agent.update(observation, 0, 1.0): plays_changing_graphs(player.name),
        lambda agent: agent.reset(observation, graph_set=player.graph_set): False,
    }
    use, plays = pick(list(uses.items()), rng)
    return player.try_out(use, None if plays else False, f"{count} graphs instead of {K}")


def attack_batches(player: Player, rng: Rng) -> str:
    """Ask for batches that there cannot be, with graphs pending that there are not."""
    if not isinstance(player.agent, BatchAgent):
        return ""
    if rng.random() < 0.5:
        count = pick((*NO_INDICES, *STRANGERS), rng)
        return player.try_out(lambda agent: agent.select_batch(None, count), count is K, f"count {count!r}")
    bad = pick((*NO_INDICES, *STRANGERS[:5]), rng)
    pending = pick(([bad], [1, 1], list(range(K)), [[0]], np.array([True])), rng)
    return player.try_out(lambda agent: agent.select_batch(None, 1, None, pending), False, f"pending {pending!r}")


def attack_settings(name: str, rng: Rng) -> str:
    """Make an agent with a setting that makes no sense, and play it if it can be made."""
    parameters = inspect.signature(getattr(agents.zoo, name.replace("-", "_"))).parameters
    small = set(SMALL.get(name[:3], {})) | {"network", "networks", "device"}
    field = pick([*sorted(set(parameters) - small), "no_such_setting"], rng)
    value = pick((-1, 0, True, 1.5, "2", np.nan, np.inf, -0.0, 1e300, 10**400, 1e-320, 3, 1, *STRANGERS), rng)
    words, made = f"{field}={value!r}", list[Player]()
    fault = try_out(lambda: made.append(Player(name, **{field: value})), None, words)
    return fault or (made[0].plays_on(words) if made else "")


def attack_arguments(rng: Rng) -> str:
    """Make an environment with an argument that makes no sense, and play it if it can be made."""
    field = pick(sorted(inspect.signature(GraphActionBandit).parameters), rng)
    value = pick((*NUMBERS, 0, 1, 3, 1.0, True, np.True_, *STRANGERS), rng)
    return play_environment({field: value}, None, f"{field}={value!r}")


def attack_means(rng: Rng) -> str:
    """Make an environment with mean rewards or noise that agents could not learn from."""
    value = pick((*EXTREMES, *NUMBERS, *STRANGERS), rng)
    sense = None if isinstance(value, (int, float)) and abs(value) < 1e100 else False
    source = pick(("array", "function", "noise"), rng)
    given: dict[str, Any] = {"graphs": graphs(K), "reward_scale": pick(("raw", "unit"), rng)}
    changes: dict[str, dict[str, Any]] = {
        "array": {"reward_model": [0.0] * (K - 1) + [value]},
        "function": {"reward_model": lambda graph: value},
        "noise": {"reward_model": [0.0] * K, "noise": lambda generator, mean: value},
    }
    return play_environment({**given, **changes[source]}, sense, f"{source} {value!r}")


def attack_steps(rng: Rng) -> str:
    """Play a graph that there is not."""
    bad = pick((*NO_INDICES, *STRANGERS, np.array([1, 2])), rng)
    env, twin = (GraphActionBandit(**SMALL_ENV) for _ in range(2))
    return _steps_alike(env, twin, bad, 1)


def attack_vector_steps(rng: Rng) -> str:
    """Play graphs that there are not, in some of many bandits."""
    actions: Any = mangle(rng.integers(K, size=BANDITS).tolist(), (*NO_INDICES[:-2], *STRANGERS[:5]), rng)
    env, twin = (GraphActionBanditVector(BANDITS, **SMALL_ENV) for _ in range(2))
    return _steps_alike(env, twin, actions, [1] * BANDITS)


def _steps_alike(env: Any, twin: Any, bad: object, good: object) -> str:
    """Return what is wrong if a bad action is not refused, or changes what comes after it."""
    for played in (env, twin):
        played.reset(seed=3)
    fault = try_out(lambda: env.step(bad), False, f"action {bad!r}")
    same = fault or np.array_equal(env.step(good)[1], twin.step(good)[1])
    return fault or ("" if same else f"action {bad!r} changed the environment")


def attack_resets(rng: Rng) -> str:
    """Reset with seeds and options that are none."""
    bad = pick((-1, 0.5, np.nan, "0", [0.5], [1, 2], [-1] * BANDITS, {}, set(), object(), [None, "1", 2]), rng)
    bandits = GraphActionBanditVector(BANDITS, **SMALL_ENV)
    options = pick(({"resample": bad}, {"no_such_option": bad}, {"reset_mask": bad}, bad or [0]), rng)
    given = pick(({"seed": bad}, {"options": options}), rng)
    return try_out(lambda: bandits.reset(**given), False, f"{given!r}")


def attack_graphs(rng: Rng) -> str:
    """Make and take graphs that are none."""
    bad = pick((np.nan, np.inf, 1e300, 1j, "1", None, [1.0], object()), rng)
    link = pick((-1, 2, 0.0, "0", None, np.nan), rng)
    index = pick(([True, False], [-1], [2], [0.0], ["0"], [], [[0]], [None]), rng)
    x, good = [[[0.0], [1.0]]] * 2, [[[0, 1], [1, 0]]] * 2
    uses: tuple[Callable[[], object], ...] = (
        lambda: GraphSet([[[0.0], [bad]]], good[:1]),
        lambda: GraphSet([[[0.0], [1.0]]], [[[0, link]]], directed=False),
        lambda: GraphSet(x, good, [[[bad], [1.0]], [[1.0], [1.0]]]),
        lambda: GraphSet(x, good).take(index),
        lambda: GraphSet(x, good[:1]),
    )
    return try_out(pick(uses, rng), False, f"node {bad!r}, link {link!r} or index {index!r}")


def play_environment(changes: dict[str, Any], sense: bool | None, words: str) -> str:
    """Play a round of an environment with these arguments, and return what is wrong with it."""

    def play() -> list[object]:
        env = GraphActionBandit(**{**({} if "graphs" in changes else SMALL_ENV), **changes})
        env.reset(seed=1)
        return [env.step(np.int64(env.action_masks().argmax()))[1], env.mean_rewards]

    return try_out(play, sense, words)


def try_out(use: Callable[[], object], sense: bool | None, words: str) -> str:
    """Do what is tried, and return what is wrong with the outcome: a refusal without a reason, or numbers not finite.

    It must be taken if `sense` is True, must be refused if it is False, and may be either if it is None.
    """
    try:
        with time_limit(SECONDS):
            answer = use()
    except REFUSALS as error:
        explained = len(str(error).split()) >= 4 and not sense
        return "" if explained else f"refused {words}: {error!r}"
    except DIVERGED:
        return ""
    except Exception as error:  # noqa: BLE001 - whatever else is raised is a fault
        return f"{type(error).__name__} on {words}: {error}"
    return f"took {words}" if sense is False else unsound(answer)


def unsound(value: object) -> str:
    """Return where numbers are not finite; the reward of a choice is not known yet."""
    for path, entry in entries(value):
        if path[-2:] == ("chosen", "reward") or not isinstance(entry, (torch.Tensor, np.ndarray, float)):
            continue
        if not (entry.isfinite() if isinstance(entry, torch.Tensor) else np.isfinite(entry)).all():
            return f"{'.'.join(map(str, path))} is not finite"
    return ""


def entries(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], object]]:
    """Walk over nested dicts and lists: the path of each entry, and what is there."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, entry in pairs:
        yield (*path, key), entry
        yield from entries(entry, (*path, key))


def mangle(values: list[Any], bad: Sequence[object], rng: Rng) -> Any:
    """Return a list that is wrong in one place, or in its shape."""
    wrong = [*values]
    wrong[rng.integers(len(values))] = pick(bad, rng)
    shapes = (wrong, wrong, wrong, values[1:], [*values, 0], [values], [[value] for value in values], *STRANGERS[1:])
    return pick(shapes, rng)


def pick(values: Sequence[Any], rng: Rng) -> Any:
    """Draw one of some values of any type."""
    return values[int(rng.integers(len(values)))]


def graphs(count: int) -> GraphSet:
    """Return some small graphs."""
    rng = np.random.default_rng(count)
    return GraphSet([rng.normal(size=(3, 2)) for _ in range(count)], [[[0, 1], [1, 0], [1, 2], [2, 1]]] * count)


def fingerprint(state: object) -> list[tuple[object, object]]:
    """Return every entry of a state, bit for bit."""
    plain = [pair for pair in entries(state) if not isinstance(pair[1], (dict, list, tuple))]
    return [(path, x.numpy().tobytes() if isinstance(x, torch.Tensor) else repr(x)) for path, x in plain]
