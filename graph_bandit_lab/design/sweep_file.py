"""Read a sweep from a TOML file or a preset."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeGuard

import registry
from graph_bandit_env.extras import MissingExtraError
from graph_bandit_lab.design.environment import EnvironmentSettings
from graph_bandit_lab.design.keys import OWN
from graph_bandit_lab.design.own_graphs import PoolFile
from graph_bandit_lab.design.plan import Grid, Sweep, derive_seeds, make_checked
from graph_bandit_lab.design.selection import parse_selection
from graph_bandit_lab.design.settings import AgentSpec, split_agent
from graph_bandit_lab.design.tasks import Task, read_tables
from graph_bandit_lab.design.tuned import Tuned, read_tuned

FITS = {"passes": "paper", "steps": "paper-steps"}  # presets of the agents, by the name of a fit
_KEYS = {"title", "repetitions", "seed", "seeds", "agents", "grid", "tunes"}
_GRID_KEYS = {"agents", "environment", "settings", "task", "hard", "table"}
GridTable = Mapping[str, Any]  # a grid, or a table in it, as TOML has it
ZOO = "zoo"  # among agents: all that are installed and need no wrapper


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Values for the placeholders of a sweep file, and replacements for parts of it."""

    fit: str = "steps"
    """"passes" or "steps": {fit} in the agents stands for the preset of that name."""
    tuned: Path | None = None
    """File of tuned settings, for {tuned} in the agents; None: the file that is shipped for the fit."""
    agents: tuple[str, ...] = ()
    """Agents instead of those of the file."""
    admit: tuple[str, ...] = ()
    """Agents of files, as `module:factory`, listed by the sweep, that may be imported (`registry.admit_agent`)."""
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
        unfit = [text for text in self.admit if not registry.names_a_file(split_agent(text)[0])]
        if unfit:
            raise ValueError(f"Expected `admit` to name agents of files, as `module:factory`. Got {unfit[0]!r}.")
        if self.repetitions is not None and self.repetitions < 1:
            raise ValueError(f"Expected `repetitions` to be at least 1. Got {self.repetitions}.")


@dataclass(frozen=True)
class _Part:
    """Environments of one graph model, not yet made, and the agents of their grid."""

    environments: tuple[GridTable, ...]
    agents: tuple[AgentSpec, ...]
    task: Task | None

    def make(self, source: str) -> Grid:
        """Make the environments: this reads the tables that some are played on."""
        try:
            made = tuple(EnvironmentSettings(**settings) for settings in self.environments)
        except TypeError as error:
            raise ValueError(f"{source}: {error}") from error
        return Grid(made, self.agents, self.task)


def list_presets() -> tuple[str, ...]:
    """Return the names of the shipped sweeps."""
    names = (path.name for path in files("graph_bandit_lab.design").joinpath("presets").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_sweep(source: str | Path, overrides: Overrides = Overrides()) -> Sweep:
    """Read a sweep. All that the file says is checked before a table is read.

    Args:
        source: a TOML file, or the name of a preset.
        overrides: values for placeholders, and replacements for parts of the file.

    Returns:
        The sweep.

    Raises:
        FileNotFoundError: if there is no such file and no such preset.
        ValueError: if the file is not TOML, a key is unknown or missing, or a value is refused; or it lists an agent of
            a file that `overrides` do not name: what is read from a file never loads code.
        ImportError: if an agent of a file that `overrides` name cannot be imported.
    """
    sketch = _sketch(source, overrides)
    AgentSpec.admit((*overrides.agents, *overrides.admit))
    for spec in {spec.label: spec for part in sketch.parts for spec in part.agents}.values():
        make_checked(spec)
    selection = parse_selection(overrides.environments)
    grids, unread = _make_parts(sketch.parts, selection, str(source))
    notes = (*sketch.notes, *unread)
    sweep = Sweep(title=sketch.title, grids=grids, seeds=sketch.seeds, tunes=sketch.tunes, notes=notes)
    return sweep.select(selection, overrides.horizon)


def check_sweep(source: str | Path, overrides: Overrides = Overrides()) -> None:
    """Refuse what `read_sweep` would refuse, as far as that needs neither torch nor the tables of the sweep.

    Raises:
        FileNotFoundError, ValueError: as `read_sweep`.
    """
    _sketch(source, overrides)


@dataclass(frozen=True)
class _Sketch:
    """What a file says, checked, before anything is made of it."""

    title: str
    parts: tuple[_Part, ...]
    seeds: tuple[int, ...]
    tunes: bool
    notes: tuple[str, ...]


def _sketch(source: str | Path, overrides: Overrides) -> _Sketch:
    if str(source) in list_presets():
        text = files("graph_bandit_lab.design").joinpath("presets", f"{source}.toml").read_text(encoding="utf-8")
    elif Path(source).is_file():
        text = Path(source).read_text(encoding="utf-8")
    else:
        raise FileNotFoundError(f"Expected a TOML file or one of {', '.join(list_presets())}. Got {source}.")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"Expected {source} to be a TOML file. Got: {error}.") from error
    _refuse_unknown(content, _KEYS, str(source))
    if "seeds" in content and ("seed" in content or "repetitions" in content):
        raise ValueError(f"{source}: expected either `seeds`, or `seed` and `repetitions`. Got both.")
    grids = content.get("grid", [{}])
    if not isinstance(grids, list):
        raise ValueError(f"{source}: expected grids under `[[grid]]`. Got `[grid]`.")
    if not isinstance(content.get("tunes", False), bool):
        raise ValueError(f"{source}: expected `tunes` to be true or false. Got {content['tunes']!r}.")
    if not isinstance(content.get("title", ""), str):
        raise ValueError(f"{source}: expected `title` to be a text. Got {content['title']!r}.")
    seeds = _read_seeds(content, overrides.repetitions, str(source))
    tuned = read_tuned(overrides.tuned, overrides.fit)
    here, notes = _fill_in_tables(grids, overrides.tables, str(source))
    parts = tuple(part for grid in here for part in _sketch_grid(grid, content, overrides, tuned, str(source)))
    named = {split_agent(text)[0] for text in (*overrides.agents, *overrides.admit)}
    for name in dict.fromkeys(spec.name for part in parts for spec in part.agents):
        if registry.names_a_file(name) and name in named:
            continue  # it is admitted later: that imports it
        try:
            registry.check_name(name)
        except ValueError as error:
            raise ValueError(f"{source}: {error}" if registry.names_a_file(name) else str(error)) from error
    for part in parts:
        random = tuple(settings for settings in part.environments if "graphs" not in settings)
        replace(part, environments=random).make(str(source))
    return _Sketch(content.get("title", Path(source).stem), parts, seeds, content.get("tunes", False), notes)


def _make_parts(
    parts: Sequence[_Part], selection: Mapping[str, Sequence[object]], source: str
) -> tuple[tuple[Grid, ...], tuple[str, ...]]:
    """Read the tables of parts, and leave out the tasks that need an extra which is not installed, with a note.

    Raises:
        MissingExtraError: if nothing remains, or such a task is selected, or such a grid has no name.
    """
    grids: list[Grid] = []
    unread: dict[str, list[str]] = {}
    for part in parts:
        try:
            grids.append(part.make(source))
        except MissingExtraError as error:
            if part.task is None or part.task.name in selection.get("task", ()):
                raise
            unread.setdefault(str(error), []).append(part.task.name)
    if unread and not grids:
        raise MissingExtraError(next(iter(unread)))
    return tuple(grids), tuple(f"Left out: {', '.join(tasks)}. {reason}" for reason, tasks in unread.items())


def _fill_in_tables(
    grids: Sequence[GridTable], path: Path | None, source: str
) -> tuple[list[GridTable], tuple[str, ...]]:
    """Add the settings of the tables that there are, and leave out the grids of the others, with a note."""
    tables = {} if path is None else read_tables(path)
    named = [_table(grid, "a grid", source).get("table") for grid in grids]
    if not all(isinstance(name, str | None) for name in named):
        raise ValueError(f"{source}: expected each `table` to be a name. Got {named!r}.")
    unknown = [name for name in tables if name not in named]
    if unknown:
        known = ", ".join(str(name) for name in named if name) or "none"
        raise ValueError(f"Expected tables of {source} in {path}. Got `{unknown[0]}`. Tables: {known}.")
    filled: list[GridTable] = []
    for grid, name in zip(grids, named, strict=True):
        if name is None:
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
    return derive_seeds(seed, repetitions or wanted)


def _is_count(value: object, least: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _sketch_grid(
    grid: GridTable, content: Mapping[str, object], overrides: Overrides, tuned: Tuned, source: str
) -> list[_Part]:
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
    environments = [_beside(source, settings) for settings in _product(grid.get("environment", {}))]
    task = _read_task(grid, len(environments), source)
    parts = []
    models = [
        OWN if "graphs" in settings else str(settings.get("graph_model", EnvironmentSettings.graph_model))
        for settings in environments
    ]
    for model in dict.fromkeys(models):
        specs = [
            _read_agent(label, recipe, variant, overrides.fit, tuned, model, optional=label in optional)
            for label, recipe in recipes.items()
            for variant in variants
        ]
        alike = [environment for environment, its in zip(environments, models, strict=True) if its == model]
        parts.append(_Part(tuple(alike), tuple(specs), task))
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
