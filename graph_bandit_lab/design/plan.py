"""List the repetitions of a sweep: environments x seeds x agents, each with its storage key."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import registry
from graph_bandit_lab.design.environment import EnvironmentSettings
from graph_bandit_lab.design.names import FEEDBACK, RunKey, describe_environment, to_json, write_size
from graph_bandit_lab.design.own_graphs import OwnGraphs, PoolFile, read_played, to_arguments
from graph_bandit_lab.design.settings import AgentSpec
from graph_bandit_lab.episodes.feedback import Feedback, check_batch

if TYPE_CHECKING:
    from agents.contract import Agent


@dataclass(frozen=True, kw_only=True)
class Task:
    """A named environment on which agents are ranked."""

    name: str
    """One or two words."""
    hard: str = ""
    """Sentence on its difficulty, which reports show if an agent fails."""
    environment_key: str = ""
    """The key of the environment in results."""
    refused: tuple[tuple[str, str], ...] = ()
    """Agents that cannot play it, each with the reason."""


@dataclass(frozen=True)
class Repetition:
    """One episode to play."""

    spec: AgentSpec
    key: RunKey
    seed: int
    pool: PoolFile | None = None
    """Source of the environment's graphs. None if they are random."""
    task: str = ""
    """Name of the environment, if it is a task."""

    @property
    def label(self) -> str:
        """Return the name of the agent in results."""
        return self.spec.label

    @property
    def identity(self) -> tuple[str, int]:
        """Return the hash and the seed under which it is stored."""
        return self.key.settings_hash, self.seed

    @property
    def environment(self) -> dict[str, Any]:
        """Return the environment for display, with own graphs under their file name."""
        return self.key.environment | ({} if self.pool is None else {"graphs": self.pool.name})

    @property
    def feedback(self) -> Feedback:
        """Return the batches, delays and random rounds."""
        return Feedback(**{name: value for name, value in self.key.environment.items() if name in FEEDBACK})

    def make_agent(self) -> Agent:
        """Make the agent in any process. A plan contains only registered agents and agents that a user has named."""
        AgentSpec.admit([self.spec.name])
        return registry.make_agent(self.spec.name, **self.spec.settings)

    def to_arguments(self, **changes: object) -> dict[str, Any]:
        """Return the keywords of `registry.make_environment`, with `changes` of settings."""
        return to_arguments({**self.key.environment, **changes}, self.read_graphs())

    def read_graphs(self) -> OwnGraphs | None:
        """Read the user's own graphs, if any. The file is read once per process.

        Raises:
            FileNotFoundError: if the file no longer exists.
            ValueError: if its content has changed since the repetition was planned.
        """
        return None if self.pool is None else read_played(self.pool, self.key.environment, self.seed)


@dataclass(frozen=True)
class Grid:
    """Environments and agents: every agent plays on every environment."""

    environments: tuple[EnvironmentSettings, ...]
    agents: tuple[AgentSpec, ...]
    task: Task | None = None
    """Task of its only environment. Agents that cannot play it are skipped instead of rejected."""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Grids and seeds: every agent of a grid plays on each of its environments, once per seed."""

    title: str
    grids: tuple[Grid, ...]
    seeds: tuple[int, ...]
    tunes: bool = False
    """Write the best settings to a file at the end."""
    notes: tuple[str, ...] = ()
    """Notes for users before the sweep is played."""

    def select(self, environments: Mapping[str, Sequence[object]] | None = None, horizon: int | None = None) -> Sweep:
        """Return part of the sweep: some of its environments, or shorter episodes.

        Repetitions that keep their horizon are stored under the same keys as in the whole sweep.

        Args:
            environments: values by setting. Environments with one of the values of each setting are kept. `task`
                selects tasks by name.
            horizon: T of every environment, in place of its own.

        Raises:
            ValueError: if no environment has such a setting or value, or the horizon is invalid.
        """
        settings = dict(environments or {})
        grids_here, grids = self.grids, []
        if "task" in settings:
            names = settings.pop("task")
            held = {grid.task.name: grid for grid in self.grids if grid.task is not None}
            if missing := [name for name in names if name not in held]:
                raise ValueError(f"Expected `task` to be one of {', '.join(held) or 'none'}. Got {missing[0]}.")
            grids_here = tuple(grid for name, grid in held.items() if name in names)
        chosen = [each for grid in grids_here for each in grid.environments]
        for setting, values in settings.items():
            there = [_short(each.describe().get(setting)) for each in chosen]
            if missing := [value for value in values if value not in there]:
                listed, names = ", ".join(map(str, dict.fromkeys(there))), ", ".join(chosen[0].describe())
                raise ValueError(f"Expected `{setting}` to be one of {listed}. Got {missing[0]}. Settings: {names}.")
            chosen = [each for each, value in zip(chosen, there, strict=True) if value in values]
        for grid in grids_here:
            kept = [environment for environment in grid.environments if environment in chosen]
            if horizon is not None:
                kept = list(dict.fromkeys(dataclasses.replace(environment, horizon=horizon) for environment in kept))
            if kept:
                grids.append(dataclasses.replace(grid, environments=tuple(kept)))
        return dataclasses.replace(self, grids=tuple(grids))

    def plan(self) -> SweepPlan:
        """Check settings and return every repetition of the sweep, with agents taking turns on each instance.

        Raises:
            ValueError: if an agent or a setting is invalid, two agents of a grid have equal settings, or an agent can
                play none of the tasks.
        """
        repetitions: dict[tuple[str, int], Repetition] = {}
        tasks, absent, reasons = list[Task](), list[tuple[str, list[str]]](), dict[str, str]()
        for grid in self.grids:
            cast = _make_agents(grid)
            for environment in grid.environments:
                settings = environment.to_dict()
                check_batch(environment.feedback, settings["num_graphs"], environment.replacement)
                keys, refused = dict[str, RunKey](), dict[str, str]()
                for spec, agent, key in cast:
                    if not (reason := _why_not(spec, agent, environment)):
                        keys[spec.label] = dataclasses.replace(key, environment=settings)
                    elif grid.task is None and not spec.optional:
                        where = describe_environment(environment.describe())
                        raise ValueError(f"Expected agents that can play on {where}. `{spec.label}` cannot: {reason}.")
                    else:
                        refused[spec.label] = reason
                        reasons |= {} if spec.optional else {spec.label: reason}
                if len({key.settings_hash for key in keys.values()}) < len(keys):
                    raise ValueError(f"Expected agents that differ. Got the same settings twice in {', '.join(keys)}.")
                for seed in self.seeds:
                    for spec in (spec for spec, *_ in cast if spec.label in keys):
                        name = "" if grid.task is None else grid.task.name
                        repetition = Repetition(spec, keys[spec.label], seed, environment.pool, name)
                        repetitions.setdefault(repetition.identity, repetition)  # grids may share some
                where = describe_environment(environment.describe()) if grid.task is None else grid.task.name
                absent.append((where, list(refused)))
                if grid.task is not None:
                    text, why = to_json(settings), tuple(refused.items())
                    tasks.append(dataclasses.replace(grid.task, environment_key=text, refused=why))
        playing = {repetition.label for repetition in repetitions.values()}
        stuck = ", ".join(f"{label} ({reason})" for label, reason in reasons.items() if label not in playing)
        if stuck:
            raise ValueError(f"Expected agents that can play at least one of these tasks. Got {stuck}.")
        idle = dict.fromkeys(spec.label for grid in self.grids for spec in grid.agents if spec.label not in playing)
        notes = [*self.notes, *(environment.note for grid in self.grids for environment in grid.environments)]
        notes += [f"Left out, because they can play nothing here: {', '.join(idle)}."] if idle else []
        for where, labels in absent:
            names = ", ".join(label for label in labels if label not in idle)
            notes += [f"Not played by {names}: {where}."] if names else []
        unique = tuple(filter(None, dict.fromkeys(notes)))
        return SweepPlan(self.title, tuple(repetitions.values()), self.tunes, unique, tuple(tasks))


@dataclass(frozen=True)
class SweepPlan:
    """The repetitions of a sweep."""

    title: str
    repetitions: tuple[Repetition, ...]
    tunes: bool = False
    """Write the best settings to a file at the end."""
    notes: tuple[str, ...] = ()
    """Notes for users before the sweep is played."""
    tasks: tuple[Task, ...] = ()
    """Named environments on which agents are ranked."""


def _short(value: object) -> object:
    return write_size(value) if isinstance(value, list) else value


def derive_seeds(seed: int, repetitions: int) -> tuple[int, ...]:
    """Return the seeds of repetitions, spawned from one seed. More repetitions keep the first seeds."""
    children = np.random.SeedSequence(seed).spawn(repetitions)
    return tuple(int(child.generate_state(1)[0]) for child in children)


def _make_agents(grid: Grid) -> list[tuple[AgentSpec, Agent, RunKey]]:
    """Make each agent of a grid, and read its version and its settings, including defaults."""
    if len({spec.label for spec in grid.agents}) < len(grid.agents):
        raise ValueError(f"Expected a label for each agent. Got {', '.join(spec.label for spec in grid.agents)}.")
    cast = []
    for spec in grid.agents:
        agent = make_checked(spec)
        own: Any = getattr(agent, "settings", None)  # a third-party agent may have anything here
        settings = dataclasses.asdict(own) if dataclasses.is_dataclass(type(own)) else dict(own or spec.settings)
        origin, version = registry.agent_origin(spec.name), getattr(agent, "algorithm", 1)
        cast.append((spec, agent, RunKey(spec.name, settings, {}, origin, version)))
    return cast


def _why_not(spec: AgentSpec, agent: Agent, environment: EnvironmentSettings) -> str:
    """Return the reason why an agent cannot play on an environment, or an empty string if it can."""
    needs, changing = registry.agent_needs(spec.name), environment.resample_graphs == "round"
    molecules = environment.contents is not None and environment.contents.are_molecules
    if needs != "any" and not (needs == "molecules" and molecules):
        return f"needs {needs}"
    if changing and registry.agent_plays_changing_graphs(spec.name) is False:
        return "plays on one graph set"
    num_graphs = environment.to_dict()["num_graphs"]
    check_size: Callable[[int], None] = getattr(agent, "check_size", lambda count: None)  # or checked during play
    try:
        check_size(max(num_graphs) if isinstance(num_graphs, Sequence) else num_graphs)
    except ValueError as error:
        return str(error)
    return ""


def make_checked(spec: AgentSpec) -> Agent:
    """Make an agent. The error for an invalid setting names the agent."""
    try:
        return registry.make_agent(spec.name, **spec.settings)
    except ValueError as error:
        named = "" if f"`{spec.name}`" in str(error) else f" (Agent `{spec.name}`.)"
        raise ValueError(f"{error}{named}") from error
