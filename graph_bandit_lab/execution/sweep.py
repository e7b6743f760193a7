"""Sweeps: grids of environments and agents, played in parallel."""

from __future__ import annotations

import itertools
import json
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.design.sweep_file import SweepPlan
from graph_bandit_lab.execution.execute import execute
from graph_bandit_lab.execution.executors import Workers
from graph_bandit_lab.execution.worker import Outcome
from graph_bandit_lab.reports.panels import name_environments
from graph_bandit_lab.storage.files import sole_driver
from graph_bandit_lab.storage.results import FILE_NAME, ResultStore

LOG_NAME = "sweep.log"


@dataclass(frozen=True)
class SweepTally:
    """What became of the repetitions of a sweep."""

    played: int
    reused: int
    failed: int
    """Of this sweep, also from earlier."""


def run_sweep(
    plan: SweepPlan,
    out: str | Path,
    open_workers: Callable[[], Workers],
    retry_failed: bool = False,
    progress: bool = True,
) -> SweepTally:
    """Play what a folder does not hold yet, and store each repetition at once, in one transaction.

    Args:
        plan: of `Sweep.plan`, or `plan_sweep`.
        out: folder of the results; it may hold those of other sweeps too.
        open_workers: opens `Processes` or a `DaskExecutor`.
        retry_failed: play those again that are stored as failed.
        progress: show a bar.

    Returns:
        How many were played, were found, and have failed.

    Raises:
        ValueError: if another process plays into the folder; nothing is played then.
        SchedulerLostError: if a cluster has gone.
    """
    with sole_driver(Path(out)):
        return _play_missing(plan, ResultStore(Path(out)), open_workers, retry_failed, progress)


def _play_missing(
    plan: SweepPlan,
    store: ResultStore,
    open_workers: Callable[[], Workers],
    retry_failed: bool,
    progress: bool,
) -> SweepTally:
    repetitions, stored = plan.repetitions, store.stored()
    keys = [(one.key.settings_hash, one.seed) for one in repetitions]
    failures = 0 if retry_failed else sum(stored.get(key, False) for key in keys)
    to_do = [
        one for one, key in zip(repetitions, keys, strict=True) if key not in stored or (retry_failed and stored[key])
    ]
    store.relabel({one.key.settings_hash: one.label for one in repetitions})
    name_of, number, played = _names(repetitions), itertools.count(1), 0
    log = _open_log(store.path.parent)
    log.info("%s: %d repetitions, %d to play", plan.title, len(repetitions), len(to_do))
    with tqdm(total=len(to_do), unit="run", smoothing=0.1, disable=None if progress else True) as bar:

        def keep(repetition: Repetition, outcome: Outcome) -> None:
            nonlocal failures, played
            result, error = outcome.result, outcome.error
            key, label, seed = repetition.key, repetition.label, repetition.seed
            store.add(key, seed, label, result, outcome.wall_time, error, outcome.versions)
            failures += bool(error)
            played += 1
            where = name_of[json.dumps(key.environment, sort_keys=True)]
            line = f"{result.status} {label} on {where}, seed {seed}: {outcome.wall_time:.1f} s"
            log.info("%s", line)
            if progress and bar.disable:
                print(f"{next(number)} of {len(to_do)}: {line}", file=sys.stderr, flush=True)
            if error:
                log.error("%s", error)
            bar.update()
            bar.set_postfix(failed=failures)

        execute(to_do, open_workers, keep)
    return SweepTally(played=played, reused=len(repetitions) - len(to_do), failed=failures)


def describe_work(plan: SweepPlan, out: str | Path, workers: int, retry_failed: bool = False) -> str:
    """Say how many repetitions there are, how many are stored, and about how long the rest will take.

    A repetition is taken to last as long as those like it did: with equal settings, else of the same agent, else any.
    """
    repetitions = plan.repetitions
    done: dict[tuple[str, int], bool] = {}
    times: dict[str, float] = {}
    if (Path(out) / FILE_NAME).is_file():
        store = ResultStore(Path(out))
        done, times = store.stored(), store.mean_wall_times()
    failed = {key for key, has_failed in done.items() if has_failed and retry_failed}
    found = done.keys() - failed
    to_do = [one for one in repetitions if (one.key.settings_hash, one.seed) not in found]
    counts = f"{len(repetitions)} repetitions, {len(repetitions) - len(to_do)} stored, {len(to_do)} to play"
    text = f"{plan.title}: {counts}"
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
    log = logging.getLogger(f"graph_bandit_lab.execution.sweep.{folder.resolve()}")
    if not log.handlers:
        handler = logging.FileHandler(folder / LOG_NAME, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False
    return log
