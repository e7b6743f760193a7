"""Read a sweep from a TOML file or a preset."""

from __future__ import annotations

import itertools
import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeGuard

import registry
from graph_bandit_lab.design.environment import EnvironmentSettings
from graph_bandit_lab.design.own_graphs import PoolFile
from graph_bandit_lab.design.plan import Grid, Sweep, derive_seeds
from graph_bandit_lab.design.selection import parse_selection
from graph_bandit_lab.design.settings import AgentSpec, split_agent
from graph_bandit_lab.design.tasks import Task, read_tables
from graph_bandit_lab.design.tuned import Tuned, read_tuned

FITS = {"literal": "paper", "steps": "paper-steps"}  # presets of the agents, by the name of a fit
_KEYS = {"title", "repetitions", "seed", "seeds", "agents", "grid", "tunes"}
_GRID_KEYS = {"agents", "environment", "settings", "task", "hard", "table"}
GridTable = Mapping[str, Any]  # a grid as TOML has it
MOST_PLAYS = 1_000_000  # repetitions of a grid, or combinations of its settings
ZOO = "zoo"  # among agents: all that are installed and need no wrapper


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Values for the placeholders of a sweep file, and replacements for parts of it."""

    fit: str = "steps"
    """"literal" or "steps": {fit} in the agents stands for the preset of that name."""
    tuned: Path | None = None
    """File of tuned settings, for {tuned} in the agents; None: the file that is shipped for the fit."""
    agents: tuple[str, ...] = ()
    """Agents instead of those of the file."""
    repetitions: int | None = None
    """Number of repetitions instead of that of the file; the first seeds stay the same."""
    environments: tuple[str, ...] = ()
    """Only environments with these settings, each as `setting=value` or `setting=value,value`."""
    horizon: int | None = None
    """T instead of that of every environment."""
    tables: Path | None = None
    """File that says where the tables of the sweep lie; grids of tables that are not in it are left out."""

    def __post_init__(self) -> None:
        if self.fit not in FITS:
            raise ValueError(f"Expected `fit` to be one of {', '.join(FITS)}. Got {self.fit!r}.")
        if self.repetitions is not None and self.repetitions < 1:
            raise ValueError(f"Expected `repetitions` to be at least 1. Got {self.repetitions}.")


def list_presets() -> tuple[str, ...]:
    """Return the names of the shipped sweeps."""
    names = (path.name for path in files("graph_bandit_lab.design").joinpath("presets").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_sweep(source: str | Path, overrides: Overrides = Overrides()) -> Sweep:
    """Read a sweep.

    Args:
        source: a TOML file, or the name of a preset.
        overrides: values for placeholders, and replacements for parts of the file.

    Returns:
        The sweep.

    Raises:
        FileNotFoundError: if there is no such file and no such preset.
        ValueError: if the file is not TOML, a key is unknown or missing, or a value is refused.
    """
    if str(source) in list_presets():
        text = files("graph_bandit_lab.design").joinpath("presets", f"{source}.toml").read_text(encoding="utf-8")
    elif Path(source).is_file():
        text = Path(source).read_text(encoding="utf-8")
    else:
        raise FileNotFoundError(f"Expected a TOML file or one of {', '.join(list_presets())}. Got {source}.")
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"Expected {source} to be a TOML file. Got: {error}.") from error
    _refuse_unknown(content, _KEYS, str(source))
    if "seeds" in content and ("seed" in content or "repetitions" in content):
        raise ValueError(f"{source}: expected either `seeds`, or `seed` and `repetitions`. Got both.")
    grids = content.get("grid", [{}])
    if not isinstance(grids, list):
        raise ValueError(f"{source}: expected grids under `[[grid]]`. Got `[grid]`.")
    if not isinstance(content.get("tunes", False), bool):
        raise ValueError(f"{source}: expected `tunes` to be true or false. Got {content['tunes']!r}.")
    tuned = read_tuned(overrides.tuned, overrides.fit)
    here, notes = _fill_in_tables(grids, overrides.tables, str(source))
    sweep = Sweep(
        title=content.get("title", Path(source).stem),
        grids=tuple(part for grid in here for part in _read_grid(grid, content, overrides, tuned, str(source))),
        seeds=_read_seeds(content, overrides.repetitions, str(source)),
        tunes=content.get("tunes", False),
        notes=notes,
    )
    return sweep.select(parse_selection(overrides.environments), overrides.horizon)


def _fill_in_tables(
    grids: Sequence[GridTable], path: Path | None, source: str
) -> tuple[list[GridTable], tuple[str, ...]]:
    """Add the settings of the tables that there are, and leave out the grids of the others, with a note."""
    tables = {} if path is None else read_tables(path)
    named = [_table(grid, "a grid", source).get("table") for grid in grids]
    unknown = [name for name in tables if name not in named]
    if unknown:
        known = ", ".join(str(name) for name in named if name) or "none"
        raise ValueError(f"Expected tables of {source} in {path}. Got `{unknown[0]}`. Tables: {known}.")
    filled: list[GridTable] = []
    for grid, name in zip(grids, named, strict=True):
        if name is None:
            _check_graphs(grid, source)
            filled.append(grid)
        elif name in tables:
            environment = _table(grid.get("environment", {}), "`environment`", source)
            filled.append({**grid, "environment": {**environment, **tables[name]}})
    tasks = [str(grid["task"]) for grid in grids if "task" in grid]
    twice = [name for name in tasks if tasks.count(name) > 1]
    if twice:
        raise ValueError(f"{source}: expected each `task` once. Got `{twice[0]}` twice.")
    missing = [str(name) for name in named if name is not None and name not in tables]
    note = f"Left out, because `--tables` does not say where they lie: {', '.join(missing)}."
    return filled, (note,) if missing else ()


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


def _read_seeds(content: Mapping[str, object], repetitions: int | None, source: str) -> tuple[int, ...]:
    if "seeds" in content:
        seeds = content["seeds"]
        if not isinstance(seeds, list) or not seeds or not all(_is_count(seed, 0) for seed in seeds):
            raise ValueError(f"{source}: expected `seeds` to be a list of integers >= 0. Got {seeds!r}.")
        if len(set(seeds)) < len(seeds):
            raise ValueError(f"{source}: expected each of `seeds` once. Got {seeds}.")
        if repetitions is not None and repetitions > len(seeds):
            raise ValueError(
                f"{source}: expected at most {len(seeds)} repetitions, one for each of its `seeds`. Got {repetitions}."
            )
        return tuple(seeds[:repetitions])
    seed, wanted = content.get("seed", 0), content.get("repetitions", 1)
    if not _is_count(seed, 0) or not _is_count(wanted, 1):
        raise ValueError(
            f"{source}: expected integers `seed` >= 0 and `repetitions` >= 1. Got {seed!r} and {wanted!r}."
        )
    if (repetitions or wanted) > MOST_PLAYS:
        raise ValueError(f"{source}: expected at most {MOST_PLAYS:,} repetitions. Got {repetitions or wanted:,}.")
    return derive_seeds(seed, repetitions or wanted)


def _is_count(value: object, least: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _read_grid(
    grid: GridTable, content: Mapping[str, object], overrides: Overrides, tuned: Tuned, source: str
) -> list[Grid]:
    """Multiply out the lists of one grid, into a part for each graph model: tuned settings depend on it."""
    _refuse_unknown(_table(grid, "a grid", source), _GRID_KEYS, source)
    for name in ("environment", "settings"):
        _table(grid.get(name, {}), f"`{name}`", source)
    known = {field.name for field in fields(EnvironmentSettings) if field.init}
    _refuse_unknown(grid.get("environment", {}), known, source)
    agents = _replace_zoo(overrides.agents) or grid.get("agents", content.get("agents", []))
    optional = {*_replace_zoo(overrides.agents)} - {*overrides.agents}
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
    try:
        chosen = [_beside(source, settings) for settings in _product(grid.get("environment", {}))]
        environments = [EnvironmentSettings(**settings) for settings in chosen]
    except TypeError as error:
        raise ValueError(f"{source}: {error}") from error
    task = _read_task(grid, len(environments), source)
    parts = []
    models = [str(environment.to_dict()["graph_model"]) for environment in environments]
    for model in dict.fromkeys(models):
        specs = [
            _read_agent(label, recipe, variant, overrides.fit, tuned, model, optional=label in optional)
            for label, recipe in recipes.items()
            for variant in variants
        ]
        alike = [environment for environment, its in zip(environments, models, strict=True) if its == model]
        parts.append(Grid(tuple(alike), tuple(specs), task))
    return parts


def _replace_zoo(agents: Sequence[str]) -> list[str]:
    """Replace "zoo" by all installed agents that need no wrapper."""
    zoo = [name for name in registry.list_agents() if registry.agent_needs(name) in ("any", "molecules")]
    return list(dict.fromkeys(name for text in agents for name in (zoo if text == ZOO else [text])))


def _beside(source: str, environment: dict[str, Any]) -> dict[str, Any]:
    """Take the path of a file of graphs as one from the folder of the sweep file; a pool with a name has none."""
    graphs = environment.get("graphs")
    if not (isinstance(graphs, str) and PoolFile(source=graphs).is_file):
        return environment
    return environment | {"graphs": str(Path(source).parent / graphs)}


def _check_graphs(grid: GridTable, source: str) -> None:
    """Refuse files of graphs outside the folder of the sweep file: one that somebody sends reads nothing else."""
    given = _table(grid.get("environment", {}), "`environment`", source).get("graphs")
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
        recipe = recipe.replace("{tuned}", tuned.settings_of(recipe.partition(":")[0], graph_model)).rstrip(",:")
        label = label.replace("{tuned}", "tuned")
    return AgentSpec.parse(recipe, label, optional=optional)


def _product(lists: Mapping[str, object]) -> list[dict[str, Any]]:
    """Return every combination of one value of each list; a value that is not a list counts as a list of one."""
    columns = [value if isinstance(value, list) else [value] for value in lists.values()]
    if (count := math.prod(map(len, columns))) > MOST_PLAYS:
        raise ValueError(f"Expected lists with at most {MOST_PLAYS:,} combinations in a grid. Got {count:,}.")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*columns)]


def _join(agent: str, settings: str) -> str:
    _, colon, _ = split_agent(agent)
    return agent + ("," if colon else ":") + settings if settings else agent


def _table(value: object, name: str, source: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{source}: expected {name} to be a table. Got {value!r}.")
    return value


def _refuse_unknown(table: Mapping[str, object], known: set[str], source: str) -> None:
    unknown = sorted(table.keys() - known)
    if unknown:
        raise ValueError(f"{source}: unknown key `{unknown[0]}`. Keys: {', '.join(sorted(known))}.")
