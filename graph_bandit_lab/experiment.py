"""Play every repetition that a folder does not hold yet, and store each when it is finished."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

import registry
from graph_bandit_lab.loop import BanditResult, run_bandit
from graph_bandit_lab.results import FILE_NAME, ResultStore, RunKey
from graph_bandit_lab.settings import AgentSpec, RunSettings


@dataclass(frozen=True)
class Repetition:
    """One episode to play."""

    label: str
    spec: AgentSpec
    key: RunKey
    seed: int


@dataclass(frozen=True)
class Tally:
    """What became of a run's repetitions: the numbers played now, and found in the folder."""

    played: int
    reused: int


def run_experiment(settings: RunSettings, progress: bool = True) -> Tally:
    """Play the repetitions of a run, each agent on the same instances, and store each at once.

    What is stored depends on settings and seeds alone: one thread plays, and agents take turns.

    Args:
        settings: of environment, agents and repetitions.
        progress: show a bar with rounds a second and the time left.

    Returns:
        How many repetitions were played and reused.

    Raises:
        ValueError: if an agent or a setting is refused, or the folder holds results of another environment; nothing
            is changed then.
    """
    repetitions = plan(settings)
    if settings.overwrite:
        (settings.out / FILE_NAME).unlink(missing_ok=True)
    store = ResultStore(settings.out)
    _refuse_other_environments(store, settings)
    to_do = [one for one in repetitions if not store.has(one.key, one.seed, settings.diagnostics)]
    rounds = len(to_do) * settings.environment.horizon
    hidden = None if progress and to_do else True  # None: hidden unless it goes to a terminal
    with _one_thread(), tqdm(total=rounds, unit="round", smoothing=0, disable=hidden) as bar:
        for number, repetition in enumerate(to_do, start=1):
            name = f"{repetition.label}, seed {repetition.seed}"
            bar.set_description(name)
            result = _play(repetition, store, bar, settings.diagnostics)
            if progress and bar.disable:
                print(f"{number} of {len(to_do)}: {name}: {result!r}", file=sys.stderr, flush=True)
    return Tally(played=len(to_do), reused=len(repetitions) - len(to_do))


def plan(settings: RunSettings) -> list[Repetition]:
    """Return all repetitions of a run, agents taking turns; every setting is checked on the way.

    Raises:
        ValueError: if an agent or a setting is refused.
    """
    specs = {label: AgentSpec.parse(label) for label in settings.agents}
    environment = settings.environment.to_dict()
    keys = {
        label: RunKey(spec.name, _all_settings(spec), environment, registry.agent_origin(spec.name))
        for label, spec in specs.items()
    }
    hashes = [key.settings_hash for key in keys.values()]
    if len(set(hashes)) < len(hashes):
        raise ValueError(f"Expected agents that differ. Got the same settings twice in {' '.join(settings.agents)}.")
    children = np.random.SeedSequence(settings.seed).spawn(settings.repetitions)
    seeds = [int(child.generate_state(1)[0]) for child in children]
    return [Repetition(label, specs[label], keys[label], seed) for seed in seeds for label in settings.agents]


def _all_settings(spec: AgentSpec) -> dict[str, Any]:
    """Return the settings of an agent, defaults included; those that were given, if it does not tell."""
    settings: Any = getattr(registry.make_agent(spec.name, **spec.settings), "settings", None)
    if dataclasses.is_dataclass(settings) and not isinstance(settings, type):
        return dataclasses.asdict(settings)
    return dict(settings or spec.settings)


def _refuse_other_environments(store: ResultStore, settings: RunSettings) -> None:
    wanted = settings.environment.to_dict()
    for found in store.environments():
        differences = [f"{k} {found.get(k)}" for k in wanted if found.get(k) != wanted[k]]
        if differences:
            raise ValueError(
                f"Expected {settings.out} to be new or to hold this environment. It holds one with "
                f"{', '.join(differences)}. "
                "Choose another folder with --out, or throw its results away with --overwrite."
            )


def _play(repetition: Repetition, store: ResultStore, bar: tqdm[Any], diagnose: bool) -> BanditResult:
    env = registry.make_environment(**repetition.key.environment, observe="indices")
    agent = registry.make_agent(repetition.spec.name, **repetition.spec.settings)
    begin = time.perf_counter()
    result = run_bandit(env, agent, repetition.seed, on_round=bar.update, diagnose=diagnose)
    if store.has(repetition.key, repetition.seed):
        store.add_diagnostics(repetition.key, repetition.seed, result)
    else:
        store.add(repetition.key, repetition.seed, repetition.label, result, time.perf_counter() - begin)
    bar.total -= repetition.key.environment["horizon"] - len(result.actions)
    env.close()
    return result


@contextmanager
def _one_thread() -> Iterator[None]:
    """Play on one thread: on matrices this small two are up to 30 times slower, and sums would change with them."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
