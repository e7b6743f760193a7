"""Read one grid of a sweep file: its environments, which are not made yet, and its agents with tuned settings."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import registry
from graph_bandit_lab.design.environment import EnvironmentSettings
from graph_bandit_lab.design.keys import OWN
from graph_bandit_lab.design.own_graphs import PoolFile
from graph_bandit_lab.design.plan import Grid
from graph_bandit_lab.design.settings import AgentSpec, split_agent, write_settings
from graph_bandit_lab.design.tasks import Task

FITS = {"passes": "paper", "steps": "paper-steps"}  # presets of the agents, by the name of a fit
_GRID_KEYS = {"agents", "environment", "settings", "task", "hard", "table"}
GridTable = Mapping[str, Any]  # a grid, or a table in it, as TOML has it
MOST_PLAYS = 1_000_000  # repetitions of a grid, or combinations of its settings
ZOO = "zoo"  # among agents: all that are installed and need no wrapper


@dataclass(frozen=True)
class Part:
    """Environments of one graph model, not yet made, and the agents of their grid."""

    environments: tuple[GridTable, ...]
    """Keywords of `EnvironmentSettings`."""
    agents: tuple[AgentSpec, ...]
    """Agents of the grid."""
    task: Task | None
    """Its name, if it has one."""

    def make(self, source: str) -> Grid:
        """Make the environments: this reads the tables that some are played on."""
        try:
            made = tuple(EnvironmentSettings(**settings) for settings in self.environments)
        except TypeError as error:
            raise ValueError(f"{source}: {error}") from error
        return Grid(made, self.agents, self.task)


@dataclass(frozen=True)
class Tuned:
    """The best settings by graph model and agent."""

    source: str
    """The file that they are from."""
    settings: Mapping[str, Mapping[str, Mapping[str, object]]]
    """Graph model -> agent -> settings."""

    def settings_of(self, agent: str, graph_model: str) -> str:
        """Write the settings of an agent as after its name: `setting=value,setting=value`.

        An NN agent takes those of its GNN twin [Wu & Amini 2024, appendix].

        Raises:
            ValueError: if there are none.
        """
        agents = self.settings.get(graph_model, {})
        chosen = agents.get(agent, agents.get(f"g{agent}" if agent.startswith("nn-") else agent))
        if chosen is None:
            pairs = ", ".join(f"{name} on {model}" for model, agents in self.settings.items() for name in agents)
            raise ValueError(
                f"Expected tuned settings of {agent} on {graph_model} in {self.source}. Got {pairs or 'none'}."
            )
        return write_settings(chosen)


def sketch_grid(
    grid: GridTable, common: object, instead: Sequence[str], fit: str, tuned: Tuned, source: str
) -> list[Part]:
    """Multiply out the lists of one grid, into a part for each graph model: tuned settings depend on it.

    Args:
        grid: the grid, as TOML has it.
        common: agents of the file, for a grid that has none of its own.
        instead: agents in place of both; `zoo` stands for all that need no wrapper. Empty: there are none.
        fit: a key of `FITS`.
        tuned: settings for {tuned}.
        source: the file, for messages.

    Raises:
        ValueError: if a key is unknown, or a value is of the wrong type.
    """
    refuse_unknown(check_table(grid, "a grid", source), _GRID_KEYS, source)
    for name in ("environment", "settings"):
        check_table(grid.get(name, {}), f"`{name}`", source)
    names = {field.name for field in fields(EnvironmentSettings) if field.init}
    refuse_unknown(grid.get("environment", {}), names, source)
    agents = _replace_zoo(instead) or grid.get("agents", common)
    optional = {*_replace_zoo(instead)} - {*instead}
    recipes = dict(agents) if isinstance(agents, dict) else {text: text for text in _texts(agents, source)}
    if not recipes or not all(isinstance(recipe, str) for recipe in recipes.values()):
        raise ValueError(
            f"{source}: expected `agents`, a list of names or a table of labels, at the top or in each grid. "
            f"Got {agents!r}."
        )
    empty = [key for lists in ("environment", "settings") for key, value in grid.get(lists, {}).items() if value == []]
    if empty:
        raise ValueError(f"{source}: expected at least one value of `{empty[0]}`. Got an empty list.")
    variants = [",".join(f"{k}={v}" for k, v in chosen.items()) for chosen in _product(grid.get("settings", {}))]
    environments = [_beside(source, settings) for settings in _product(grid.get("environment", {}))]
    task = _read_task(grid, len(environments), source)
    parts = []
    models = [
        OWN if "graphs" in settings else str(settings.get("graph_model", EnvironmentSettings.graph_model))
        for settings in environments
    ]
    for model in dict.fromkeys(models):
        specs = [
            _read_agent(label, recipe, variant, fit, tuned, model, optional=label in optional)
            for label, recipe in recipes.items()
            for variant in variants
        ]
        alike = [environment for environment, its in zip(environments, models, strict=True) if its == model]
        parts.append(Part(tuple(alike), tuple(specs), task))
    return parts


def _replace_zoo(agents: Sequence[str]) -> list[str]:
    """Replace "zoo" by all installed agents that need no wrapper."""
    if ZOO not in agents:
        return list(agents)
    zoo = [name for name in registry.list_agents() if registry.agent_needs(name) in ("any", "molecules")]
    return list(dict.fromkeys(name for text in agents for name in (zoo if text == ZOO else [text])))


def _beside(source: str, environment: GridTable) -> GridTable:
    """Take the path of a file of graphs as one from the folder of the sweep file; a pool with a name has none."""
    graphs = environment.get("graphs")
    if not (isinstance(graphs, str) and PoolFile(source=graphs).is_file):
        return environment
    return {**environment, "graphs": str(Path(source).parent / graphs)}


def check_graphs(grid: GridTable, source: str) -> None:
    """Refuse files of graphs outside the folder of the sweep file: one that somebody sends reads nothing else."""
    given = check_table(grid.get("environment", {}), "`environment`", source).get("graphs")
    for graphs in given if isinstance(given, list) else [given]:
        if not (isinstance(graphs, str) and PoolFile(source=graphs).is_file):
            continue
        if Path(graphs).anchor or Path(os.path.normpath(graphs)).parts[:1] == ("..",):
            raise ValueError(
                f"{source}: expected `graphs` in the folder of the sweep file, or below it. Got {graphs}. Move the "
                'sweep file, or write `table = "name"` in the grid, and where it lies in a file for `--tables`.'
            )


def _texts(agents: object, source: str) -> Sequence[str]:
    if not isinstance(agents, list | tuple) or not all(isinstance(agent, str) for agent in agents):
        raise ValueError(f"{source}: expected `agents` to be a list of names or a table of labels. Got {agents!r}.")
    return agents


def _read_agent(
    label: str, recipe: str, variant: str, fit: str, tuned: Tuned, graph_model: str, *, optional: bool
) -> AgentSpec:
    label, recipe = (_join(text.replace("{fit}", FITS[fit]), variant) for text in (label, recipe))
    if "{tuned}" in recipe:
        recipe = recipe.replace("{tuned}", tuned.settings_of(split_agent(recipe)[0], graph_model)).rstrip(",:")
        label = label.replace("{tuned}", "tuned")
    return AgentSpec.parse(recipe, label, optional=optional)


def _product(lists: Mapping[str, object]) -> list[GridTable]:
    """Return every combination of one value of each list; a value that is not a list counts as a list of one."""
    columns = [value if isinstance(value, list) else [value] for value in lists.values()]
    if (count := math.prod(map(len, columns))) > MOST_PLAYS:
        raise ValueError(f"Expected lists with at most {MOST_PLAYS:,} combinations in a grid. Got {count:,}.")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*columns)]


def _join(agent: str, settings: str) -> str:
    _, colon, _ = split_agent(agent)
    return agent + ("," if colon else ":") + settings if settings else agent


def check_table(value: object, name: str, source: str) -> Mapping[str, object]:
    """Return a table of TOML.

    Raises:
        ValueError: if it is anything else.
    """
    if not isinstance(value, dict):
        raise ValueError(f"{source}: expected {name} to be a table. Got {value!r}.")
    return value


def refuse_unknown(table: Mapping[str, object], known: set[str], source: str) -> None:
    """Refuse a table with another key.

    Raises:
        ValueError: if there is one.
    """
    unknown = sorted(table.keys() - known)
    if unknown:
        raise ValueError(f"{source}: unknown key `{unknown[0]}`. Keys: {', '.join(sorted(known))}.")


def _read_task(grid: GridTable, environments: int, source: str) -> Task | None:
    """Return the name of a grid's environment; None if it has no name."""
    if "task" not in grid:
        if "hard" in grid:
            raise ValueError(f"{source}: expected `task`, a name, with `hard`. Got none.")
        return None
    name, hard = grid["task"], grid.get("hard", "")
    if not (isinstance(name, str) and name and isinstance(hard, str)):
        raise ValueError(f"{source}: expected `task`, and perhaps `hard`, to be texts. Got {name!r} and {hard!r}.")
    if environments != 1:
        raise ValueError(f"{source}: expected one environment in the task `{name}`. Got {environments}.")
    return Task(name=name, hard=hard)


def read_tuned(path: Path | None, fit: str) -> Tuned:
    """Read tuned settings.

    Args:
        path: a file that `write_tuned` wrote; None: the file that is shipped for the fit.
        fit: "passes" or "steps".

    Raises:
        FileNotFoundError: if the file is not there.
        ValueError: if it does not hold tuned settings.
    """
    if path is not None and not path.is_file():
        raise FileNotFoundError(f"Expected a file of tuned settings. Got {path}. `graph-bandit tuned` writes one.")
    file = path or files("graph_bandit_lab.design").joinpath("presets", f"tuned-{fit}.json")
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))["settings"]
        read = {model: {name: dict(cell.items()) for name, cell in its.items()} for model, its in settings.items()}
        return Tuned(str(file), read)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"Expected {file} to hold tuned settings, as `graph-bandit tuned` writes them.") from error
