"""Which repetitions there are: environments x seeds x agents, each with the key under which it is stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import registry
from graph_bandit_lab.design.environment import EnvironmentSettings
from graph_bandit_lab.design.keys import RunKey
from graph_bandit_lab.design.selection import select_environments
from graph_bandit_lab.design.settings import AgentSpec


@dataclass(frozen=True)
class Repetition:
    """One episode to play."""

    spec: AgentSpec
    key: RunKey
    seed: int

    @property
    def label(self) -> str:
        """Return how results call the agent."""
        return self.spec.label

    @property
    def place(self) -> tuple[str, int]:
        """Return under which hash and seed it is stored."""
        return self.key.settings_hash, self.seed


@dataclass(frozen=True)
class Grid:
    """Agents that play on environments, each on each."""

    environments: tuple[EnvironmentSettings, ...]
    agents: tuple[AgentSpec, ...]


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Grids: every agent of a grid plays on every environment of it, with every seed."""

    title: str
    grids: tuple[Grid, ...]
    seeds: tuple[int, ...]
    tunes: bool = False
    """When it is done, the best settings are written to a file."""

    def select(self, environments: Mapping[str, Sequence[object]] | None = None, horizon: int | None = None) -> Sweep:
        """Return a part of the sweep, on some of its environments, or with shorter episodes.

        Repetitions that keep their horizon are stored under the same keys as those of the whole sweep.

        Args:
            environments: values by setting; environments that have one of the values of each setting stay.
            horizon: T of every environment, instead of its own.

        Raises:
            ValueError: if no environment has such a setting or value, or the horizon is refused.
        """
        here = [environment for grid in self.grids for environment in grid.environments]
        chosen = set(select_environments(here, environments or {}))
        grids = []
        for grid in self.grids:
            kept = [environment for environment in grid.environments if environment in chosen]
            if horizon is not None:
                kept = list(dict.fromkeys(dataclasses.replace(environment, horizon=horizon) for environment in kept))
            if kept:
                grids.append(Grid(tuple(kept), grid.agents))
        return dataclasses.replace(self, grids=tuple(grids))

    def plan(self) -> SweepPlan:
        """Return every repetition of the sweep, its settings checked.

        Raises:
            ValueError: if an agent or a setting is refused.
        """
        return SweepPlan(self.title, tuple(plan(self.grids, self.seeds)), self.tunes)


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep comes to."""

    title: str
    repetitions: tuple[Repetition, ...]
    tunes: bool = False
    """When it is done, the best settings are written to a file."""

    @property
    def settings_hashes(self) -> set[str]:
        """Return under which hashes its repetitions are stored."""
        return {one.key.settings_hash for one in self.repetitions}


def derive_seeds(seed: int, repetitions: int) -> tuple[int, ...]:
    """Return the seeds of repetitions: children of one seed, so that more repetitions keep the first ones."""
    children = np.random.SeedSequence(seed).spawn(repetitions)
    return tuple(int(child.generate_state(1)[0]) for child in children)


def plan(grids: Sequence[Grid], seeds: Iterable[int]) -> list[Repetition]:
    """Return all repetitions, agents taking turns on each instance; every setting is checked on the way.

    Raises:
        ValueError: if an agent or a setting is refused, or two agents of a grid have equal settings.
    """
    repetitions: dict[tuple[str, int], Repetition] = {}
    for grid in grids:
        specs = {spec.label: spec for spec in grid.agents}
        if len(specs) < len(grid.agents):
            raise ValueError(f"Expected a label for each agent. Got {', '.join(spec.label for spec in grid.agents)}.")
        origins = {name: _origin_of(name) for name in dict.fromkeys(spec.name for spec in grid.agents)}
        without = {label: _key_without_environment(spec, origins[spec.name]) for label, spec in specs.items()}
        for environment in grid.environments:
            known = environment.to_dict()
            keys = {label: dataclasses.replace(key, environment=known) for label, key in without.items()}
            if len({key.settings_hash for key in keys.values()}) < len(keys):
                raise ValueError(f"Expected agents that differ. Got the same settings twice in {', '.join(specs)}.")
            for seed in seeds:
                for label, spec in specs.items():  # what two grids share is played once
                    one = Repetition(spec, keys[label], seed)
                    repetitions.setdefault(one.place, one)
    return list(repetitions.values())


def _origin_of(agent: str) -> str:
    """Return the package that an agent comes in, if it plays on any graphs."""
    needs = registry.agent_needs(agent)
    if needs != "any":
        raise ValueError(
            f"Expected agents that play on any graphs. `{agent}` needs {needs}. "
            "`graph-bandit suggest` and `graph_bandit_campaign.Campaign` play it on a pool of yours."
        )
    return registry.agent_origin(agent)


def _key_without_environment(spec: AgentSpec, origin: str) -> RunKey:
    """Ask an agent for its settings, defaults included (if it does not tell, those that were given), and version."""
    try:
        agent = registry.make_agent(spec.name, **spec.settings)
    except ValueError as error:
        named = "" if f"`{spec.name}`" in str(error) else f" (Agent `{spec.name}`.)"
        raise ValueError(f"{error}{named}") from error
    told: Any = getattr(agent, "settings", None)  # of whoever wrote it
    is_ours = dataclasses.is_dataclass(type(told))
    settings = dataclasses.asdict(told) if is_ours else dict(told or spec.settings)
    return RunKey(spec.name, settings, {}, origin, getattr(agent, "algorithm", 1))
