"""List the repetitions of a sweep: environments x seeds x agents, each with the key under which it is stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import registry
from graph_bandit_lab.design.environment import EnvironmentSettings
from graph_bandit_lab.design.keys import (
    FEEDBACK,
    LATER_AGENT_DEFAULTS,
    RunKey,
    to_json,
    without_later_defaults,
)
from graph_bandit_lab.design.names import describe_environment
from graph_bandit_lab.design.own_graphs import OwnGraphs, PoolFile, read_own_graphs, to_arguments
from graph_bandit_lab.design.selection import select_environments
from graph_bandit_lab.design.settings import AgentSpec
from graph_bandit_lab.design.tasks import Task
from graph_bandit_lab.episodes.feedback import Feedback, check_batch

if TYPE_CHECKING:
    from agents.contract import Agent


@dataclass(frozen=True)
class Repetition:
    """One episode to play."""

    spec: AgentSpec
    key: RunKey
    seed: int
    pool: PoolFile | None = None
    """Where the graphs of the environment are read from; None: they are random."""
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
        """Return the environment as people read it: own graphs by the name of their file."""
        return self.key.environment | ({} if self.pool is None else {"graphs": self.pool.name})

    @property
    def feedback(self) -> Feedback:
        """Return when the agent is told its rewards."""
        return Feedback(**{name: value for name, value in self.key.environment.items() if name in FEEDBACK})

    @property
    def shared_name(self) -> str:
        """Return the name of the file of the graphs where it lies with those of other pools."""
        return "" if self.pool is None else f"{self.key.environment['graphs']}-{Path(self.pool.source).name}"

    def make_agent(self) -> Agent:
        """Make the agent, in whatever process: a plan has only agents that are registered, or that a user has named."""
        AgentSpec.admit([self.spec.name])
        return registry.make_agent(self.spec.name, **self.spec.settings)

    def to_arguments(self, **changes: object) -> dict[str, Any]:
        """Return the keywords of `registry.make_environment`, with `changes` of settings."""
        return to_arguments({**self.key.environment, **changes}, self.read_graphs())

    def read_graphs(self) -> OwnGraphs | None:
        """Read the user's own graphs, if the environment has some; the file is read once a process.

        Raises:
            FileNotFoundError: if the file is gone.
            ValueError: if it does not hold what it held when the repetition was planned.
        """
        if self.pool is None:
            return None
        own = read_own_graphs(self.pool)
        if own.contents.digest != self.key.environment["graphs"]:
            raise ValueError(
                f"Expected {self.pool.source} to hold what it held when this was planned. It has changed. Put the file "
                "back and play again with --retry-failed, or play what it holds now into another folder."
            )
        return own


@dataclass(frozen=True)
class Grid:
    """Environments and agents: every agent plays on every environment."""

    environments: tuple[EnvironmentSettings, ...]
    agents: tuple[AgentSpec, ...]
    task: Task | None = None
    """The name of its environment, of which there is one. Agents that cannot play it are left out, not refused."""

    def can_lack(self, spec: AgentSpec) -> bool:
        """Return whether an agent that cannot play is left out."""
        return self.task is not None or spec.optional


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Grids and seeds: every agent of a grid plays on each of its environments, once with every seed."""

    title: str
    grids: tuple[Grid, ...]
    seeds: tuple[int, ...]
    tunes: bool = False
    """Write the best settings to a file at the end."""
    notes: tuple[str, ...] = ()
    """What people should know before it is played."""

    def select(self, environments: Mapping[str, Sequence[object]] | None = None, horizon: int | None = None) -> Sweep:
        """Return a part of the sweep, on some of its environments, or with shorter episodes.

        Repetitions that keep their horizon are stored under the same keys as those of the whole sweep.

        Args:
            environments: values by setting; environments that have one of the values of each setting stay. `task`
                chooses by the names of tasks.
            horizon: T of every environment, instead of its own.

        Raises:
            ValueError: if no environment has such a setting or value, or the horizon is refused.
        """
        settings = dict(environments or {})
        grids_here = self._choose_tasks(settings.pop("task")) if "task" in settings else self.grids
        offered = [environment for grid in grids_here for environment in grid.environments]
        chosen = set(select_environments(offered, settings))
        grids = []
        for grid in grids_here:
            kept = [environment for environment in grid.environments if environment in chosen]
            if horizon is not None:
                kept = list(dict.fromkeys(dataclasses.replace(environment, horizon=horizon) for environment in kept))
            if kept:
                grids.append(dataclasses.replace(grid, environments=tuple(kept)))
        return dataclasses.replace(self, grids=tuple(grids))

    def _choose_tasks(self, names: Sequence[object]) -> tuple[Grid, ...]:
        """Return the grids of the tasks of these names."""
        there = [grid.task.name for grid in self.grids if grid.task is not None]
        missing = [name for name in names if name not in there]
        if missing:
            listed = f"one of {', '.join(there)}" if there else "left out: this sweep has no tasks"
            raise ValueError(f"Expected `task` to be {listed}. Got {missing[0]}.")
        return tuple(grid for grid in self.grids if grid.task is not None and grid.task.name in names)

    def plan(self) -> SweepPlan:
        """Return every repetition of the sweep, its settings checked.

        Raises:
            ValueError: if an agent or a setting is refused.
        """
        notes = dict.fromkeys(environment.note for grid in self.grids for environment in grid.environments)
        repetitions, tasks = plan(self.grids, self.seeds), find_tasks(self.grids)
        idle = _find_idle(self.grids, repetitions)
        refused = {task.name: [label for label, _ in task.refused if label not in idle] for task in tasks}
        of_tasks = [f"{name}: not played by {', '.join(labels)}." for name, labels in refused.items() if labels]
        of_all = [f"Left out, because they can play nothing here: {', '.join(idle)}."] if idle else []
        notes_of_all = *self.notes, *filter(None, notes), *of_all, *of_tasks, *_note_absent(self.grids, idle)
        return SweepPlan(self.title, tuple(repetitions), self.tunes, notes_of_all, tasks)


@dataclass(frozen=True)
class SweepPlan:
    """The repetitions of a sweep."""

    title: str
    repetitions: tuple[Repetition, ...]
    tunes: bool = False
    """Write the best settings to a file at the end."""
    notes: tuple[str, ...] = ()
    """What people should know before it is played."""
    tasks: tuple[Task, ...] = ()
    """Environments with a name, over which agents are ranked."""

    @property
    def settings_hashes(self) -> set[str]:
        """Return the hashes under which its repetitions are stored."""
        return {repetition.key.settings_hash for repetition in self.repetitions}


def derive_seeds(seed: int, repetitions: int) -> tuple[int, ...]:
    """Return the seeds of repetitions, children of one seed: the first ones stay the same when more are asked for."""
    children = np.random.SeedSequence(seed).spawn(repetitions)
    return tuple(int(child.generate_state(1)[0]) for child in children)


def plan(grids: Sequence[Grid], seeds: Iterable[int]) -> list[Repetition]:
    """Return all repetitions, ordered so that agents take turns on each instance; every setting is checked.

    Raises:
        ValueError: if an agent or a setting is refused, two agents of a grid have equal settings, or an agent can play
            none of the tasks.
    """
    repetitions: dict[tuple[str, int], Repetition] = {}
    idle: dict[str, str] = {}
    for grid in grids:
        specs = {spec.label: spec for spec in grid.agents}
        if len(specs) < len(grid.agents):
            raise ValueError(f"Expected a label for each agent. Got {', '.join(spec.label for spec in grid.agents)}.")
        origins = {name: registry.agent_origin(name) for name in dict.fromkeys(spec.name for spec in grid.agents)}
        agents = {label: make_checked(spec) for label, spec in specs.items()}
        without = {label: find_key(spec, agents[label], origins[spec.name]) for label, spec in specs.items()}
        for environment in grid.environments:
            settings = environment.to_dict()
            refused = _find_refused(grid, agents, environment)
            players = {label: spec for label, spec in specs.items() if label not in refused}
            _check_that_all_can_play(list(dict.fromkeys(spec.name for spec in players.values())), environment)
            played = {label: agents[label] for label in players}
            _check_sizes(played, settings["num_graphs"], environment.resample_graphs == "round")
            check_batch(environment.batch, settings["num_graphs"])
            keys = {label: dataclasses.replace(without[label], environment=settings) for label in players}
            if len({key.settings_hash for key in keys.values()}) < len(keys):
                raise ValueError(f"Expected agents that differ. Got the same settings twice in {', '.join(specs)}.")
            name = "" if grid.task is None else grid.task.name
            idle |= {label: reason for label, reason in refused.items() if not specs[label].optional}
            for seed in seeds:
                for label, spec in players.items():  # a repetition that two grids share is played once
                    repetition = Repetition(spec, keys[label], seed, environment.pool, name)
                    repetitions.setdefault(repetition.identity, repetition)
    players_of_all = {repetition.label for repetition in repetitions.values()}
    stuck = ", ".join(f"{label} ({reason})" for label, reason in idle.items() if label not in players_of_all)
    if stuck:
        raise ValueError(f"Expected agents that can play at least one of these tasks. Got {stuck}.")
    return list(repetitions.values())


def find_tasks(grids: Sequence[Grid]) -> tuple[Task, ...]:
    """Return the tasks among grids, each with its key and the agents that cannot play it."""
    tasks = []
    for grid in grids:
        if grid.task is None:
            continue
        for environment in grid.environments:
            refused = _find_refused(grid, {spec.label: make_checked(spec) for spec in grid.agents}, environment)
            key = to_json(environment.to_dict())
            tasks.append(dataclasses.replace(grid.task, environment_key=key, refused=tuple(refused.items())))
    return tuple(tasks)


def _find_idle(grids: Sequence[Grid], repetitions: Iterable[Repetition]) -> list[str]:
    """Return the agents of which no repetition is planned."""
    asked = dict.fromkeys(spec.label for grid in grids for spec in grid.agents)
    playing = {repetition.label for repetition in repetitions}
    return [label for label in asked if label not in playing]


def _note_absent(grids: Sequence[Grid], idle: Sequence[str]) -> list[str]:
    """Say of which environments without a name some agents are left out, apart from those that are idle."""
    absent: dict[str, list[str]] = {}
    for grid in grids:
        if grid.task is None and any(map(grid.can_lack, grid.agents)):
            agents = {spec.label: make_checked(spec) for spec in grid.agents}
            for environment in grid.environments:
                labels = [label for label in _find_refused(grid, agents, environment) if label not in idle]
                absent.setdefault(", ".join(labels), []).append(describe_environment(environment.describe()))
    return [
        f"Not played by {labels}: {names[0]}{f', and {len(names) - 1} more' if len(names) > 1 else ''}."
        for labels, names in absent.items()
        if labels
    ]


def _find_refused(grid: Grid, agents: Mapping[str, Agent], environment: EnvironmentSettings) -> dict[str, str]:
    """Return the agents of a grid that cannot play on an environment, each with the reason, if they can be left out."""
    refused = {}
    for label, spec in ((spec.label, spec) for spec in grid.agents if grid.can_lack(spec)):
        try:
            _check_that_all_can_play([spec.name], environment)
            num_graphs = environment.to_dict()["num_graphs"]
            _check_sizes({label: agents[label]}, num_graphs, environment.resample_graphs == "round")
        except ValueError as error:
            needs = registry.agent_needs(spec.name)
            stuck = environment.resample_graphs == "round" and registry.agent_plays_changing_graphs(spec.name) is False
            short = "plays on one graph set" if stuck else str(error)
            refused[label] = short if _has(environment, needs) else f"needs {needs}"
    return refused


def _check_that_all_can_play(agents: Sequence[str], environment: EnvironmentSettings) -> None:
    """Refuse agents that need other graphs, and those of this package that play on one graph set, where graphs change.

    Of the agents of other packages nothing is known.
    """
    from agents.contract import PLAY_CHANGING_GRAPHS

    for name in agents:
        needs = registry.agent_needs(name)
        if not _has(environment, needs):
            remedy = (
                "your own molecules: `--graphs` takes a table of SMILES." if needs == "molecules" else "its wrapper."
            )
            raise ValueError(f"Expected agents that play on these graphs. `{name}` needs {needs}. Play it on {remedy}")
    stuck = [name for name in agents if registry.agent_plays_changing_graphs(name) is False]
    if environment.resample_graphs == "round" and stuck:
        raise ValueError(
            f"Expected agents that play on graphs that change ({', '.join(PLAY_CHANGING_GRAPHS)}) with "
            f'resample_graphs="round". Got {", ".join(stuck)}.'
        )


def _has(environment: EnvironmentSettings, needs: str) -> bool:
    """Return whether an environment has the graphs that an agent needs."""
    molecules = environment.contents is not None and environment.contents.are_molecules
    return needs == "any" or (needs == "molecules" and molecules)


def _check_sizes(agents: Mapping[str, Agent], num_graphs: int | Sequence[int], changing: bool) -> None:
    """Refuse agents for which there are too many graphs; an agent that has no `check_size` is asked when it plays."""
    name = "check_changing_size" if changing else "check_size"
    most = max(num_graphs) if isinstance(num_graphs, Sequence) else num_graphs
    for label, agent in agents.items():
        check_size: Callable[[int], None] = getattr(agent, name, lambda count: None)
        try:
            check_size(most)
        except ValueError as error:
            raise ValueError(f"{error} (Agent `{label}`.)") from error


def make_checked(spec: AgentSpec) -> Agent:
    """Make an agent; the error of a setting that is refused names the agent."""
    try:
        return registry.make_agent(spec.name, **spec.settings)
    except ValueError as error:
        named = "" if f"`{spec.name}`" in str(error) else f" (Agent `{spec.name}`.)"
        raise ValueError(f"{error}{named}") from error


def find_key(spec: AgentSpec, agent: Agent, origin: str) -> RunKey:
    """Ask an agent for its version and its settings, defaults included; if it has none, take those that were given."""
    own: Any = getattr(agent, "settings", None)  # a third-party agent may have anything here
    is_dataclass = dataclasses.is_dataclass(type(own))
    settings = dataclasses.asdict(own) if is_dataclass else dict(own or spec.settings)
    if not origin:
        settings = without_later_defaults(settings, LATER_AGENT_DEFAULTS)
    return RunKey(spec.name, settings, {}, origin, getattr(agent, "algorithm", 1))
