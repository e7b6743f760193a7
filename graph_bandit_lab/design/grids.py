"""Read one grid of a sweep file: its environments, not yet made, and its agents with tuned settings."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import msgspec

import registry
from graph_bandit_lab.design.environment import EnvironmentSettings
from graph_bandit_lab.design.names import OWN
from graph_bandit_lab.design.own_graphs import PoolFile
from graph_bandit_lab.design.plan import Grid, Task
from graph_bandit_lab.design.settings import AgentSpec, split_agent, write_settings

FITS = {"passes": "paper", "steps": "paper-steps"}  # presets of the agents, by the name of a fit
MOST_PLAYS = 1_000_000  # repetitions of a grid, or combinations of its settings
ZOO = "zoo"  # among agents: all installed agents that need no wrapper
Agents = list[str] | dict[str, str]  # names, or recipes by label
Values = dict[str, Any]  # of settings, as TOML and JSON have them


class GridTable(msgspec.Struct, forbid_unknown_fields=True):
    """A grid in TOML."""

    agents: Agents | None = None
    """None uses the agents of the file."""
    environment: Values = {}
    """Keywords of `EnvironmentSettings`, each with one value or a list of them."""
    settings: Values = {}
    """Settings of all its agents, in the same form."""
    task: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    hard: str = ""
    table: str | None = None
    """Name of its table in the file of `--tables`."""


class Tuned(msgspec.Struct):
    """The best settings by graph model and agent."""

    settings: dict[str, dict[str, Values]]
    """Graph model -> agent -> settings."""
    source: str = ""
    """File of the settings."""

    def settings_of(self, agent: str, graph_model: str) -> str:
        """Format the settings of an agent as after its name: `setting=value,setting=value`.

        An NN agent uses the settings of its GNN twin [Wu & Amini 2024, appendix].

        Raises:
            ValueError: if there are none.
        """
        agents = self.settings.get(graph_model, {})
        chosen = agents.get(agent, agents.get(f"g{agent}" if agent.startswith("nn-") else agent))
        if chosen is None:
            raise ValueError(f"Expected tuned settings of {agent} on {graph_model} in {self.source}. Got none.")
        return write_settings(chosen)


@dataclass(frozen=True)
class Part:
    """Environments of one graph model, not yet made, and the agents of their grid."""

    environments: tuple[Values, ...]
    """Keywords of `EnvironmentSettings`."""
    agents: tuple[AgentSpec, ...]
    """Agents of the grid."""
    task: Task | None
    """Task of the grid, if any."""

    def make(self, source: str) -> Grid:
        """Make the environments, which reads their tables."""
        from agents.contract import check_names  # imports torch

        known = [field.name for field in fields(EnvironmentSettings) if field.init]
        try:
            for settings in self.environments:
                check_names(settings, known, "argument")
            made = tuple(EnvironmentSettings(**settings) for settings in self.environments)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{source}: {error}") from error
        return Grid(made, self.agents, self.task)


def sketch_grid(grid: GridTable, instead: Sequence[str], fit: str, tuned: Tuned, source: str) -> list[Part]:
    """Expand the lists of one grid into one part per graph model, on which tuned settings depend.

    Args:
        grid: the grid, with agents.
        instead: agents in place of its own. `zoo` means all that need no wrapper. Empty keeps its own.
        fit: a key of `FITS`.
        tuned: settings for {tuned}.
        source: the file, for messages and for the paths in it.

    Raises:
        ValueError: if there are no agents, a setting has no value, or a task has more than one environment.
    """
    zoo = [name for name in registry.list_agents() if registry.agent_needs(name) in ("any", "molecules")]
    optional = [name for name in zoo if ZOO in instead and name not in instead]
    given = [name for text in instead for name in (zoo if text == ZOO else [text])] or grid.agents or []
    recipes = given if isinstance(given, dict) else dict(zip(given, given, strict=True))
    variants = [",".join(f"{k}={v}" for k, v in chosen.items()) for chosen in _product(grid.settings, source)]
    environments = [_beside(source, settings) for settings in _product(grid.environment, source)]
    if not recipes:
        raise ValueError(f"{source}: expected `agents`, a list of names or a table of labels. Got none.")
    if grid.task is not None and len(environments) != 1:
        raise ValueError(f"{source}: expected one environment in the task `{grid.task}`. Got {len(environments)}.")
    parts: dict[str, list[Values]] = {}
    for settings in environments:
        model = OWN if "graphs" in settings else settings.get("graph_model", EnvironmentSettings.graph_model)
        parts.setdefault(str(model), []).append(settings)
    task = None if grid.task is None else Task(name=grid.task, hard=grid.hard)
    return [
        Part(
            tuple(alike),
            tuple(
                _read_agent(label, recipe, variant, fit, tuned, model, optional=label in optional)
                for label, recipe in recipes.items()
                for variant in variants
            ),
            task,
        )
        for model, alike in parts.items()
    ]


def _beside(source: str, environment: Values) -> Values:
    """Resolve the path of a graph file from the folder of the sweep file. Named pools have no path."""
    graphs = environment.get("graphs")
    if not (isinstance(graphs, str) and PoolFile(source=graphs).is_file):
        return environment
    return {**environment, "graphs": str(Path(source).parent / graphs)}


def check_graphs(grid: GridTable, source: str) -> None:
    """Reject graph files outside the folder of the sweep file, so that a received sweep cannot read other files."""
    given = grid.environment.get("graphs")
    for graphs in given if isinstance(given, list) else [given]:
        if not (isinstance(graphs, str) and PoolFile(source=graphs).is_file):
            continue
        if Path(graphs).anchor or Path(os.path.normpath(graphs)).parts[:1] == ("..",):
            raise ValueError(
                f"{source}: expected `graphs` in the folder of the sweep file, or below it. Got {graphs}. Move the "
                'sweep file, or write `table = "name"` in the grid, and where it lies in a file for `--tables`.'
            )


def _read_agent(
    label: str, recipe: str, variant: str, fit: str, tuned: Tuned, graph_model: str, *, optional: bool
) -> AgentSpec:
    label, recipe = (text.replace("{fit}", FITS[fit]) for text in (label, recipe))
    if variant:
        label, recipe = (f"{text}{',' if split_agent(text)[1] else ':'}{variant}" for text in (label, recipe))
    if "{tuned}" in recipe:
        recipe = recipe.replace("{tuned}", tuned.settings_of(split_agent(recipe)[0], graph_model)).rstrip(",:")
        label = label.replace("{tuned}", "tuned")
    return AgentSpec.parse(recipe, label, optional=optional)


def _product(lists: Mapping[str, object], source: str) -> list[Values]:
    """Return every combination of one value from each list. A single value counts as a list of one."""
    columns = [value if isinstance(value, list) else [value] for value in lists.values()]
    if not 0 < (count := math.prod(map(len, columns))) <= MOST_PLAYS:
        raise ValueError(f"{source}: expected 1 to {MOST_PLAYS:,} combinations of {[*lists]} in a grid. Got {count:,}.")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*columns)]


def read_tuned(path: Path | None, fit: str) -> Tuned:
    """Read tuned settings.

    Args:
        path: a file written by `write_tuned`. None reads the file shipped for the fit.
        fit: "passes" or "steps".

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if it does not hold tuned settings.
    """
    if path is not None and not path.is_file():
        raise FileNotFoundError(f"File not found: {path}. `graph-bandit best-settings` writes tuned settings.")
    file = path or files("graph_bandit_lab.design").joinpath("presets", f"tuned-{fit}.json")
    try:
        tuned = msgspec.json.decode(file.read_bytes(), type=Tuned)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Expected tuned settings, as `graph-bandit best-settings` writes them, in {file}.") from error
    return msgspec.structs.replace(tuned, source=str(file))
