"""Sweeps: grids of environments and agents from a TOML file or a shipped preset, played in parallel."""

from __future__ import annotations

import itertools
import json
import logging
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from tqdm import tqdm

from graph_bandit_lab.execute import execute
from graph_bandit_lab.panels import name_environments
from graph_bandit_lab.plan import Grid, Repetition, derive_seeds, plan
from graph_bandit_lab.results import FILE_NAME, ResultStore
from graph_bandit_lab.settings import EnvironmentSettings
from graph_bandit_lab.worker import Outcome

LOG_NAME = "sweep.log"
FITS = {"literal": "paper", "steps": "paper-steps"}  # presets of the agents, by the name of a fit
_KEYS = {"title", "repetitions", "seed", "seeds", "agents", "grid"}
_GRID_KEYS = {"agents", "environment", "settings"}


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What a sweep file says: every agent of a grid plays on every environment of it, with every seed."""

    title: str
    grids: tuple[Grid, ...]
    seeds: tuple[int, ...]

    def repetitions(self) -> list[Repetition]:
        """Return every repetition of the sweep."""
        return plan(self.grids, self.seeds)


@dataclass(frozen=True)
class SweepTally:
    """What became of the repetitions of a sweep."""

    played: int
    reused: int
    failed: int
    """Of this sweep, also from earlier."""


def list_presets() -> tuple[str, ...]:
    """Return the names of the shipped sweeps."""
    names = (path.name for path in files("graph_bandit_lab").joinpath("presets").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_sweep(source: str | Path, fit: str = "steps") -> Sweep:
    """Read a sweep.

    Args:
        source: a TOML file, or the name of a preset.
        fit: "literal" or "steps"; stands for `{fit}` in the agents.

    Returns:
        The sweep.

    Raises:
        FileNotFoundError: if there is no such file and no such preset.
        ValueError: if the file is no TOML, a key is unknown or missing, or a value is refused.
    """
    if str(source) in list_presets():
        text = files("graph_bandit_lab").joinpath("presets", f"{source}.toml").read_text("utf-8")
    elif Path(source).is_file():
        text = Path(source).read_text("utf-8")
    else:
        raise FileNotFoundError(f"Expected a TOML file or one of {', '.join(list_presets())}. Got {source}.")
    if fit not in FITS:
        raise ValueError(f"Expected `fit` to be one of {', '.join(FITS)}. Got {fit!r}.")
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
    return Sweep(
        title=content.get("title", Path(source).stem),
        grids=tuple(_read_grid(grid, content.get("agents", []), FITS[fit], str(source)) for grid in grids),
        seeds=_read_seeds(content, str(source)),
    )


def _read_seeds(content: Mapping[str, Any], source: str) -> tuple[int, ...]:
    if "seeds" in content:
        seeds = content["seeds"]
        if not isinstance(seeds, list) or not seeds or not all(_is_count(seed, 0) for seed in seeds):
            raise ValueError(f"{source}: expected `seeds` to be a list of integers >= 0. Got {seeds!r}.")
        if len(set(seeds)) < len(seeds):
            raise ValueError(f"{source}: expected each of `seeds` once. Got {seeds}.")
        return tuple(seeds)
    seed, repetitions = content.get("seed", 0), content.get("repetitions", 1)
    if not _is_count(seed, 0) or not _is_count(repetitions, 1):
        raise ValueError(
            f"{source}: expected integers `seed` >= 0 and `repetitions` >= 1. Got {seed!r} and {repetitions!r}."
        )
    return derive_seeds(seed, repetitions)


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _read_grid(grid: Mapping[str, Any], default_agents: list[str], preset: str, source: str) -> Grid:
    """Multiply out the lists of one grid."""
    _refuse_unknown(grid, _GRID_KEYS, source)
    known = {field.name for field in fields(EnvironmentSettings)}
    _refuse_unknown(grid.get("environment", {}), known, source)
    agents = grid.get("agents", default_agents)
    if not isinstance(agents, list) or not agents or not all(isinstance(agent, str) for agent in agents):
        raise ValueError(f"{source}: expected `agents`, a list of names, at the top or in each grid. Got {agents!r}.")
    empty = [key for lists in ("environment", "settings") for key, value in grid.get(lists, {}).items() if value == []]
    if empty:
        raise ValueError(f"{source}: expected at least one value of `{empty[0]}`. Got an empty list.")
    named = [agent.replace("{fit}", preset) for agent in agents]
    variants = [",".join(f"{k}={v}" for k, v in chosen.items()) for chosen in _product(grid.get("settings", {}))]
    return Grid(
        environments=tuple(EnvironmentSettings(**chosen) for chosen in _product(grid.get("environment", {}))),
        agents=tuple(_join(agent, variant) for agent in named for variant in variants),
    )


def _product(lists: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every combination of one value of each list; what is no list is a list of one."""
    columns = [value if isinstance(value, list) else [value] for value in lists.values()]
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*columns)]


def _join(agent: str, settings: str) -> str:
    return agent + ("," if ":" in agent else ":") + settings if settings else agent


def _refuse_unknown(found: Mapping[str, Any], known: set[str], source: str) -> None:
    unknown = sorted(found.keys() - known)
    if unknown:
        raise ValueError(f"{source}: unknown key `{unknown[0]}`. Keys: {', '.join(sorted(known))}.")


def run_sweep(
    sweep: Sweep,
    out: str | Path,
    open_executor: Callable[[], Executor],
    in_flight: int,
    retry_failed: bool = False,
    progress: bool = True,
) -> SweepTally:
    """Play what a folder does not hold yet, and store each repetition at once, in one transaction.

    Args:
        sweep: what to play.
        out: folder of the results; it may hold those of other sweeps too.
        open_executor: from `graph_bandit_lab.execute.processes`, or a `DaskExecutor`.
        in_flight: repetitions handed to it at a time.
        retry_failed: play those again that are stored as failed.
        progress: show a bar.

    Returns:
        How many were played, were found, and have failed.

    Raises:
        ValueError: if an agent or a setting is refused; nothing is played then.
        SchedulerLostError: if a cluster has gone.
    """
    repetitions = sweep.repetitions()
    store = ResultStore(Path(out))
    stored = store.stored()
    keys = [(one.key.settings_hash, one.seed) for one in repetitions]
    failures = 0 if retry_failed else sum(stored.get(key, False) for key in keys)
    to_do = [
        one for one, key in zip(repetitions, keys, strict=True) if key not in stored or (retry_failed and stored[key])
    ]
    name_of, number = _names(repetitions), itertools.count(1)
    log = _open_log(Path(out))
    log.info("%s: %d repetitions, %d to play", sweep.title, len(repetitions), len(to_do))
    with tqdm(total=len(to_do), unit="run", smoothing=0.1, disable=None if progress else True) as bar:

        def keep(repetition: Repetition, outcome: Outcome) -> None:
            nonlocal failures
            result, error = outcome.result, outcome.error
            key, label, seed = repetition.key, repetition.label, repetition.seed
            store.add(key, seed, label, result, outcome.wall_time, error, outcome.versions)
            failures += bool(error)
            where = name_of[json.dumps(key.environment, sort_keys=True)]
            line = f"{result.status} {label} on {where}, seed {seed}: {outcome.wall_time:.1f} s"
            log.info("%s", line)
            if progress and bar.disable:
                print(f"{next(number)} of {len(to_do)}: {line}", file=sys.stderr, flush=True)
            if error:
                log.error("%s", error)
            bar.update()
            bar.set_postfix(failed=failures)

        execute(to_do, open_executor, in_flight, keep)
    return SweepTally(played=len(to_do), reused=len(repetitions) - len(to_do), failed=failures)


def describe_work(sweep: Sweep, out: str | Path, workers: int) -> str:
    """Say how many repetitions there are, how many are stored, and about how long the rest will take.

    A repetition is taken to last as long as those like it did: with equal settings, else of the same agent, else any.
    """
    repetitions = sweep.repetitions()
    done: dict[tuple[str, int], bool] = {}
    times: dict[str, float] = {}
    if (Path(out) / FILE_NAME).is_file():
        store = ResultStore(Path(out))
        done, times = store.stored(), store.mean_wall_times()
    to_do = [one for one in repetitions if (one.key.settings_hash, one.seed) not in done]
    counts = f"{len(repetitions)} repetitions, {len(repetitions) - len(to_do)} stored, {len(to_do)} to play"
    text = f"{sweep.title}: {counts}"
    if not times or not to_do:
        return f"{text}; none is timed yet." if to_do else f"{text}."
    anyone = sum(times.values()) / len(times)
    seconds = sum(times.get(one.key.settings_hash, times.get(one.key.agent, anyone)) for one in to_do) / workers
    return f"{text}; about {seconds / 60:.0f} minutes with {workers} workers."


def _names(repetitions: Sequence[Repetition]) -> dict[str, str]:
    """Return what sets each environment apart, by its JSON."""
    found = dict.fromkeys(json.dumps(one.key.environment, sort_keys=True) for one in repetitions)
    names = name_environments([json.loads(key) for key in found]) if found else []
    return {key: name or "the environment" for key, name in zip(found, names, strict=True)}


def _open_log(folder: Path) -> logging.Logger:
    log = logging.getLogger(f"graph_bandit_lab.sweep.{folder.resolve()}")
    if not log.handlers:
        handler = logging.FileHandler(folder / LOG_NAME, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False
    return log
