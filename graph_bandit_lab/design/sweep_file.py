"""Read a sweep from a TOML file or a preset."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TypeGuard

import registry
from graph_bandit_env.extras import MissingExtraError
from graph_bandit_lab.design.grids import (
    FITS,
    MOST_PLAYS,
    GridTable,
    Part,
    check_graphs,
    check_table,
    read_tuned,
    refuse_unknown,
    sketch_grid,
)
from graph_bandit_lab.design.plan import Grid, Sweep, derive_seeds, make_checked
from graph_bandit_lab.design.selection import parse_selection
from graph_bandit_lab.design.settings import AgentSpec, split_agent
from graph_bandit_lab.design.tasks import read_tables

_KEYS = {"title", "repetitions", "seed", "seeds", "agents", "grid", "tunes"}


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
    parts: tuple[Part, ...]
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
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"Expected {source} to be a TOML file. Got: {error}.") from error
    refuse_unknown(content, _KEYS, str(source))
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
    filled, notes = _fill_in_tables(grids, overrides.tables, str(source))
    common, instead = content.get("agents", []), overrides.agents
    parts = tuple(
        part for grid in filled for part in sketch_grid(grid, common, instead, overrides.fit, tuned, str(source))
    )
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
    parts: Sequence[Part], selection: Mapping[str, Sequence[object]], source: str
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
    named = [check_table(grid, "a grid", source).get("table") for grid in grids]
    if not all(isinstance(name, str | None) for name in named):
        raise ValueError(f"{source}: expected each `table` to be a name. Got {named!r}.")
    unknown = [name for name in tables if name not in named]
    if unknown:
        listed = ", ".join(str(name) for name in named if name) or "none"
        raise ValueError(f"Expected tables of {source} in {path}. Got `{unknown[0]}`. Tables: {listed}.")
    filled: list[GridTable] = []
    for grid, name in zip(grids, named, strict=True):
        if name is None:
            check_graphs(grid, source)
            filled.append(grid)
        elif name in tables:
            environment = check_table(grid.get("environment", {}), "`environment`", source)
            filled.append({**grid, "environment": {**environment, **tables[name]}})
    tasks = [str(grid["task"]) for grid in grids if "task" in grid]
    twice = [name for name in tasks if tasks.count(name) > 1]
    if twice:
        raise ValueError(f"{source}: expected each `task` once. Got `{twice[0]}` twice.")
    missing = list(dict.fromkeys(str(name) for name in named if name is not None and name not in tables))
    note = f"Left out, because `--tables` does not say where they lie: {', '.join(missing)}."
    return filled, (note,) if missing else ()


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
