"""Work out what is left to play: compare a plan with what its folder holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import registry
from graph_bandit_lab.design.plan import Repetition, SweepPlan
from graph_bandit_lab.design.sweep_file import Overrides, check_sweep, read_sweep
from graph_bandit_lab.execution.estimates import estimate_times
from graph_bandit_lab.execution.executors import Processes, Workers
from graph_bandit_lab.formats import format_duration
from graph_bandit_lab.storage.results import FILE_NAME, ResultStore, Stored
from graph_bandit_lab.storage.transfer import open_exports

BUSY = 1.25  # times its CPU time that work takes where cores are shared


def plan_sweep(source: str | Path, overrides: Overrides) -> SweepPlan:
    """Read and plan a sweep in a separate process, so that this one stays small: agents import torch.

    This process first refuses what it can by itself: the other takes seconds to start.

    Raises:
        FileNotFoundError, ValueError: as `read_sweep` and `Sweep.plan`.
    """
    check_sweep(source, overrides)
    with Processes(1) as executor:
        return executor.submit(_read_and_plan, source, overrides).result()


def _read_and_plan(source: str | Path, overrides: Overrides) -> SweepPlan:
    return read_sweep(source, overrides).plan()


@dataclass(frozen=True)
class Work:
    """A plan, split into stored and missing ones."""

    to_do: tuple[Repetition, ...]
    reused: int
    """Repetitions that are stored."""
    failed: int
    """Stored repetitions that have failed."""
    earlier: Mapping[str, int]
    """Number of stored repetitions, by agent, that an earlier version of its algorithm has played."""
    unversioned: Mapping[str, int]
    """Number of stored repetitions, by agent, whose agent is registered in this process, or is one of a file: its
    code has no version."""

    @property
    def notes(self) -> list[str]:
        """Describe stored repetitions that are not continued, and those that may be of other code."""
        earlier = [
            f"{agent}: {count} stored repetitions were played by an earlier version of its algorithm. They stay, "
            "reports show them as such, and they are not continued."
            for agent, count in self.earlier.items()
        ]
        return earlier + [
            f"{agent}: {count} stored repetitions are not played again. A change of its code is not seen, because it "
            "is not that of a package. If it plays differently now, raise its `algorithm`, or use another folder."
            for agent, count in self.unversioned.items()
        ]


def find_work(
    plan: SweepPlan, stored: Mapping[tuple[str, int], Stored], diagnostics: bool = False, retry_failed: bool = False
) -> Work:
    """Split a plan into stored and missing repetitions.

    A stored repetition is played again only if it has failed and `retry_failed` is set, or if it was stored without
    diagnostics and they are asked for now.
    """
    to_do, failed, earlier, unversioned = [], 0, Counter[str](), Counter[str]()
    scripted = registry.registered_agents()
    for repetition in plan.repetitions:
        key, seed = repetition.key, repetition.seed
        earlier[key.agent] += sum((settings_hash, seed) in stored for settings_hash in key.earlier_hashes)
        before = stored.get(repetition.identity)
        if before is None:
            to_do.append(repetition)
        elif before.failed:
            failed += not retry_failed
            to_do += [repetition] * retry_failed
        elif diagnostics and not before.diagnosed:
            to_do.append(repetition)
        elif key.agent in scripted or registry.names_a_file(key.agent):
            unversioned[key.agent] += 1
    return Work(tuple(to_do), len(plan.repetitions) - len(to_do), failed, +earlier, unversioned)


def describe_work(
    plan: SweepPlan,
    out: str | Path,
    workers: int,
    diagnostics: bool = False,
    retry_failed: bool = False,
    open_workers: Callable[[], Workers] | None = None,
    cluster: int | None = None,
    progress: bool = True,
    continue_from: Sequence[str | Path] = (),
) -> str:
    """Say how many repetitions there are, how many are stored, and about how long the rest will take.

    A repetition is taken to last as long as stored ones with equal settings did. Where none is stored, workers time a
    few rounds; without workers, stored repetitions of the same agent count, or else any.

    Args:
        plan: what is to be played.
        out: folder of the results; it need not be there.
        workers: number of repetitions that are played at a time.
        diagnostics: as in `run_sweep`.
        retry_failed: as in `run_sweep`.
        open_workers: opens the workers that time a few rounds, as in `estimate_times`; None: nothing is timed.
        cluster: number of cores of a cluster for which the time is given, too.
        progress: show a bar while rounds are timed.
        continue_from: files of `export_results`. Their repetitions count as stored.
    """
    stored: dict[tuple[str, int], Stored] = {}
    times: dict[str, float] = {}
    with open_exports(continue_from) as exports:
        if exports is not None:
            stored, times = exports.store.stored(), exports.store.mean_wall_times()
    if (Path(out) / FILE_NAME).is_file():
        store = ResultStore(Path(out))
        kept = {key: row for key, row in store.stored().items() if not (row.failed and key in stored)}
        stored, times = stored | kept, times | store.mean_wall_times()
    work = find_work(plan, stored, diagnostics, retry_failed)
    text = f"{plan.title}: {len(plan.repetitions)} repetitions, {work.reused} stored, {len(work.to_do)} to play"
    untimed = [repetition for repetition in work.to_do if repetition.key.settings_hash not in times]
    timed = [times[repetition.key.settings_hash] for repetition in work.to_do if repetition.key.settings_hash in times]
    if not work.to_do:
        lines = [f"{text}."]
    elif untimed and open_workers is not None:
        estimates = estimate_times(untimed, open_workers, progress)
        lines = [f"{text}; {_duration([*timed, *estimates.wall], workers, cluster)}."]
        unknown = f"{len(untimed):,} of them are not" if timed else "None of them is"
        lines.append(
            f"{unknown} timed yet: their times are estimated from a few rounds of {estimates.tried} of their "
            f"{estimates.kinds} kinds, played in {format_duration(estimates.took)}, and are rough."
        )
        busy = estimates.wall.sum() / estimates.cpu.sum()
        if busy > BUSY:
            free = _duration([*timed, *estimates.cpu], workers, cluster)
            lines.append(
                f"The cores did other work meanwhile, or agents waited: rounds took {busy:.1f} times their CPU "
                f"time. By CPU time it is {free}."
            )
    elif untimed and not times:
        lines = [f"{text}; none is timed yet."]
    else:
        of_any = sum(times.values()) / len(times)
        timed += [times.get(repetition.key.agent, of_any) for repetition in untimed]
        lines = [f"{text}; {_duration(timed, workers, cluster)}."]
    return "\n".join([*lines, *plan.notes, *work.notes])


def _duration(seconds: Sequence[float], workers: int, cluster: int | None) -> str:
    """Say how long repetitions take with some workers, and on a cluster: at least as long as the longest of them."""
    total, longest = sum(seconds), max(seconds)
    if math.isnan(total):
        return "no agent could be timed"
    text = f"about {format_duration(max(total / workers, longest))} with {workers} worker{'s' * (workers > 1)}"
    if cluster is None:
        return text
    return f"{text}, {format_duration(max(total / cluster, longest))} on a cluster of {cluster} such cores"
