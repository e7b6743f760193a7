"""Play every repetition of a run that its folder does not hold yet, one after the other, and store each at once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from graph_bandit_lab.design.keys import with_later_defaults
from graph_bandit_lab.design.plan import Grid, Repetition, derive_seeds, plan
from graph_bandit_lab.design.settings import AgentSpec, RunSettings
from graph_bandit_lab.execution.worker import Outcome, play
from graph_bandit_lab.storage.files import sole_driver
from graph_bandit_lab.storage.results import FILE_NAME, ResultStore


@dataclass(frozen=True)
class Tally:
    """What became of a run's repetitions: the numbers played now (of which some may have failed), and reused."""

    played: int
    reused: int
    failed: int = 0


def run_experiment(settings: RunSettings, progress: bool = True) -> Tally:
    """Play the repetitions of a run, each agent on the same instances, and store each at once.

    What is stored depends on settings and seeds alone: one thread plays, and agents take turns. A repetition that
    raises is stored as failed, with its traceback, and the others go on; the next run plays it again.

    Args:
        settings: of environment, agents and repetitions.
        progress: show a bar with rounds a second and the time left.

    Returns:
        How many repetitions were played, reused and failed.

    Raises:
        ValueError: if an agent or a setting is refused, or the folder holds results of another environment, or
            another process plays into it; nothing is changed then.
    """
    grid = Grid((settings.environment,), tuple(map(AgentSpec.parse, settings.agents)))
    repetitions = plan([grid], derive_seeds(settings.seed, settings.repetitions))
    with sole_driver(settings.out):
        return _play_missing(settings, repetitions, progress)


def _play_missing(settings: RunSettings, repetitions: list[Repetition], progress: bool) -> Tally:
    if settings.overwrite:
        (settings.out / FILE_NAME).unlink(missing_ok=True)
    store = ResultStore(settings.out)
    _refuse_other_environments(store, settings)
    to_do = [one for one in repetitions if not store.has(one.key, one.seed, settings.diagnostics)]
    rounds, failures = len(to_do) * settings.environment.horizon, 0
    hidden = None if progress and to_do else True  # None: hidden unless it goes to a terminal
    with tqdm(total=rounds, unit="round", smoothing=0, disable=hidden) as bar:
        for number, repetition in enumerate(to_do, start=1):
            name = f"{repetition.label}, seed {repetition.seed}"
            bar.set_description(name)
            outcome = _play(repetition, store, bar, settings.diagnostics)
            failures += outcome.result.status == "failed"
            if outcome.error:
                bar.write(f"{name} failed:\n{outcome.error}", file=sys.stderr)
            elif progress and bar.disable:
                print(f"{number} of {len(to_do)}: {name}: {outcome.result!r}", file=sys.stderr, flush=True)
    return Tally(played=len(to_do), reused=len(repetitions) - len(to_do), failed=failures)


def _refuse_other_environments(store: ResultStore, settings: RunSettings) -> None:
    wanted = with_later_defaults(settings.environment.to_dict())
    for found in map(with_later_defaults, store.environments()):
        differences = [f"{k} {found.get(k)}" for k in wanted if found.get(k) != wanted[k]]
        if differences:
            raise ValueError(
                f"Expected {settings.out} to be new or to hold this environment. It holds one with "
                f"{', '.join(differences)}. "
                "Choose another folder with --out, or throw its results away with --overwrite."
            )


def _play(repetition: Repetition, store: ResultStore, bar: tqdm[Any], diagnose: bool) -> Outcome:
    outcome = play(repetition, diagnose, on_round=bar.update)
    if not store.has(repetition.key, repetition.seed):
        store.add(repetition.key, repetition.seed, repetition.label, outcome.result, outcome.wall_time, outcome.error)
    elif not outcome.error:
        store.add_diagnostics(repetition.key, repetition.seed, outcome.result)
    bar.total -= repetition.key.environment["horizon"] - len(outcome.result.actions)
    return outcome
