"""Read a sweep from a TOML file or a preset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

import registry
from graph_bandit_lab.design.environment import NONE
from graph_bandit_lab.design.grids import (
    MOST_PLAYS,
    Agents,
    GridTable,
    check_graphs,
    read_tuned,
    sketch_grid,
)
from graph_bandit_lab.design.names import SYMBOLS
from graph_bandit_lab.design.own_graphs import PoolFile
from graph_bandit_lab.design.plan import Sweep, derive_seeds, make_checked
from graph_bandit_lab.design.settings import AgentSpec, json_or_string, split_agent

LONG_NAMES = {symbol: setting for setting, symbol in SYMBOLS.items()}
Count = Annotated[int, msgspec.Meta(ge=1, le=MOST_PLAYS)]
Seed = Annotated[int, msgspec.Meta(ge=0)]
Read = TypeVar("Read")


class SweepTable(msgspec.Struct, forbid_unknown_fields=True):
    """A sweep file in TOML."""

    title: str | None = None
    repetitions: Count | None = None
    seed: Seed | None = None
    seeds: Annotated[list[Seed], msgspec.Meta(min_length=1)] | None = None
    agents: Agents = []
    grid: list[GridTable] = msgspec.field(default_factory=lambda: [GridTable()])
    tunes: bool = False


class TableSettings(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Settings of one table in a file of tables, as in `EnvironmentSettings`. The sweep sets the others."""

    graphs: str
    """Path relative to the folder of the file."""
    target: str | None = None
    minimize: bool = False
    smiles: str = "smiles"
    skip_bad_rows: bool = False
    slot: tuple[str, ...] = ()
    ignore_column: tuple[str, ...] = ()
    directed: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Values for the placeholders of a sweep file, and replacements for parts of it."""

    fit: Literal["steps", "passes"] = "steps"
    """Value of {fit} in the agents of a preset: a fixed number of steps per round, or the 30 passes of the paper."""
    tuned: Path | None = None
    """File of settings for {tuned} in the agents of a preset. By default the settings shipped for the fit."""
    agents: Annotated[tuple[str, ...], NONE] = ()
    """Agents in place of those of the sweep, on the same environments and seeds. `zoo` means all that can play."""
    admit: Annotated[tuple[str, ...], NONE] = ()
    """Agents from files, my_file:my_factory, that the sweep lists. Only these are loaded: a sweep file runs no code by
    itself."""
    repetitions: int | None = None
    """Repetitions in place of those of the sweep. The first seeds stay the same."""
    environments: Annotated[tuple[str, ...], NONE] = ()
    """Environments to run, by their settings (num_graphs=10, reward_model=linear,gp_gntk) or names
    (task=linear,noisy)."""
    horizon: int | None = None
    """Rounds of every repetition in place of those of the sweep, for a quick trial."""
    tables: Path | None = None
    """TOML file with the locations of the tables of the sweep. Tasks whose tables are missing from it are skipped."""


def list_presets() -> tuple[str, ...]:
    """Return the names of the shipped sweeps."""
    names = (path.name for path in files("graph_bandit_lab.design").joinpath("presets").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_sweep(source: str | Path, overrides: Overrides = Overrides()) -> Sweep:
    """Read a sweep. Its agents are checked before a table is read.

    Args:
        source: a TOML file, or the name of a preset.
        overrides: values for placeholders, and replacements for parts of the file.

    Returns:
        The sweep.

    Raises:
        FileNotFoundError: if there is no such file and no such preset.
        ValueError: if the file is not TOML, a key is unknown or missing, a value is invalid, or it lists an agent from
            a file that `overrides` do not name, because a sweep file never loads code.
        ImportError: if an agent from a file named in `overrides`, or a package that reads a table, cannot be imported.
    """
    name, file = str(source), Path(source)
    if name in list_presets():
        file = Path(str(files("graph_bandit_lab.design").joinpath("presets", f"{name}.toml")))
    if not file.is_file():
        raise FileNotFoundError(f"Expected a TOML file or one of {', '.join(list_presets())}. Got {name}.")
    content = _read_toml(file.read_bytes(), SweepTable, name)
    seeds = _read_seeds(content, overrides.repetitions, name)
    tuned = read_tuned(overrides.tuned, overrides.fit)
    filled, notes = _fill_in_tables(content.grid, overrides.tables, name)
    parts = [
        part
        for grid in filled
        for part in sketch_grid(
            msgspec.structs.replace(grid, agents=grid.agents or content.agents),
            overrides.agents,
            overrides.fit,
            tuned,
            name,
        )
    ]
    admitted = (*overrides.agents, *overrides.admit)
    specs = {spec.label: spec for part in parts for spec in part.agents}.values()
    for agent in {spec.name for spec in specs} - {split_agent(text)[0] for text in admitted}:
        registry.check_name(agent)  # before any is imported
    AgentSpec.admit(admitted)
    for spec in specs:  # before a table is read
        make_checked(spec)
    selection = parse_selection(overrides.environments)
    tasks = selection.get("task", ())
    chosen = [part for part in parts if part.task is not None and part.task.name in tasks]  # other tables are not read
    grids = tuple(part.make(name) for part in (chosen if len(chosen) == len(tasks) > 0 else parts))
    title = Path(name).stem if content.title is None else content.title
    sweep = Sweep(title=title, grids=grids, seeds=seeds, tunes=content.tunes, notes=notes)
    return sweep.select(selection, overrides.horizon)


def read_tables(path: Path) -> dict[str, dict[str, Any]]:
    """Read the location of each table.

    Args:
        path: a TOML file with a section per table: `graphs` (a path from the folder of this file), `target`, and maybe
            `minimize`, `smiles`, `skip_bad_rows`, `slot`, `ignore_column` and `directed`, as in
            `EnvironmentSettings`.

    Returns:
        The settings of each table, by name.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if it is not TOML, or a table has unknown settings or no `graphs`.
    """
    if not path.is_file():
        raise FileNotFoundError(f"Expected a TOML file of tables. There is none at {path}.")
    tables = _read_toml(path.read_bytes(), dict[str, TableSettings], str(path))
    for table in tables.values():
        if PoolFile(source=table.graphs).is_file:  # named pools have no path
            table.graphs = str((path.parent / table.graphs).absolute())
    return {name: msgspec.to_builtins(table) for name, table in tables.items()}


def _read_toml(content: bytes, kind: type[Read], source: str) -> Read:
    try:
        return msgspec.toml.decode(content, type=kind)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Expected {source} to be a TOML file of this form. Got: {error}.") from error


def _fill_in_tables(
    grids: Sequence[GridTable], path: Path | None, source: str
) -> tuple[list[GridTable], tuple[str, ...]]:
    """Add the settings of the available tables, and skip the grids of missing ones, with a note."""
    tables = {} if path is None else read_tables(path)
    named = dict.fromkeys(grid.table for grid in grids if grid.table)
    unknown = [name for name in tables if name not in named]
    if unknown:
        raise ValueError(f"Expected tables of {source} in {path}: {', '.join(named) or 'none'}. Got `{unknown[0]}`.")
    filled = []
    for grid in grids:
        if grid.table is None:
            check_graphs(grid, source)
            filled.append(grid)
        elif grid.table in tables:
            filled.append(msgspec.structs.replace(grid, environment={**grid.environment, **tables[grid.table]}))
    tasks = [grid.task for grid in grids if grid.task]
    twice = [name for name in tasks if tasks.count(name) > 1]
    if twice:
        raise ValueError(f"{source}: expected each `task` once. Got `{twice[0]}` twice.")
    missing = [name for name in named if name not in tables]
    note = f"Left out, because `--tables` does not say where they lie: {', '.join(missing)}."
    return filled, (note,) if missing else ()


def _read_seeds(content: SweepTable, repetitions: int | None, source: str) -> tuple[int, ...]:
    seeds, wanted = content.seeds, repetitions if repetitions is not None else content.repetitions or 1
    if wanted < 1:
        raise ValueError(f"Expected `repetitions` to be at least 1. Got {wanted}.")
    if seeds is None:
        return derive_seeds(content.seed or 0, wanted)
    if content.seed is not None or content.repetitions is not None or len({*seeds}) < len(seeds):
        raise ValueError(f"{source}: expected either `seeds`, each once, or `seed` and `repetitions`. Got {seeds}.")
    return tuple(seeds[:repetitions])


def parse_selection(texts: Sequence[str]) -> dict[str, tuple[object, ...]]:
    """Parse a selection of settings, by name or by the symbol in reports, each with one or more values.

    Args:
        texts: each `setting=value` or `setting=value,value`. Values are JSON, None, or otherwise strings.

    Returns:
        The values of each setting.

    Raises:
        ValueError: if a text has another form.
    """
    selection: dict[str, tuple[object, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not (name and equals and all(values.split(","))):
            raise ValueError(f"Expected environments as `setting=value` or `setting=value,value`. Got `{text}`.")
        read = [json_or_string(value.strip()) for value in values.split(",")]
        selection[LONG_NAMES.get(name, name)] = tuple(None if value == "None" else value for value in read)
    return selection
