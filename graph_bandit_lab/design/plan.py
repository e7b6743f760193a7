"""Which repetitions there are: environments x seeds x agents, each with the key under which it is stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import registry
from graph_bandit_lab.design.environment import EnvironmentSettings
from graph_bandit_lab.design.keys import RunKey
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


@dataclass(frozen=True)
class Grid:
    """Agents that play on environments, each on each."""

    environments: tuple[EnvironmentSettings, ...]
    agents: tuple[AgentSpec, ...]


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
        settings = {label: _all_settings(spec) for label, spec in specs.items()}
        origins = {label: registry.agent_origin(spec.name) for label, spec in specs.items()}
        for environment in grid.environments:
            keys = {
                label: RunKey(spec.name, settings[label], environment.to_dict(), origins[label])
                for label, spec in specs.items()
            }
            hashes = {label: key.settings_hash for label, key in keys.items()}
            if len(set(hashes.values())) < len(hashes):
                raise ValueError(f"Expected agents that differ. Got the same settings twice in {', '.join(specs)}.")
            for seed in seeds:
                for label, spec in specs.items():  # what two grids share is played once
                    one = Repetition(spec, keys[label], seed)
                    repetitions.setdefault((hashes[label], seed), one)
    return list(repetitions.values())


def _all_settings(spec: AgentSpec) -> dict[str, Any]:
    """Return the settings of an agent, defaults included; those that were given, if it does not tell."""
    needs = registry.agent_needs(spec.name)
    if needs != "any":
        raise ValueError(
            f"Expected agents that play on any graphs. `{spec.name}` needs {needs}. "
            "`graph-bandit suggest` and `graph_bandit_campaign.Campaign` play it on a pool of yours."
        )
    try:
        agent = registry.make_agent(spec.name, **spec.settings)
    except ValueError as error:
        named = "" if f"`{spec.name}`" in str(error) else f" (Agent `{spec.name}`.)"
        raise ValueError(f"{error}{named}") from error
    settings: Any = getattr(agent, "settings", None)
    if dataclasses.is_dataclass(settings) and not isinstance(settings, type):
        return dataclasses.asdict(settings)
    return dict(settings or spec.settings)
