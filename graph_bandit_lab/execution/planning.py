"""What is left to play: a plan, held against what a folder holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graph_bandit_lab.design.plan import Repetition, SweepPlan
from graph_bandit_lab.design.sweep_file import Overrides, read_sweep
from graph_bandit_lab.execution.executors import Processes
from graph_bandit_lab.storage.results import FILE_NAME, ResultStore, Stored


def plan_sweep(source: str | Path, overrides: Overrides) -> SweepPlan:
    """Read a sweep and plan it in a process of its own, so that this one stays small: agents import torch.

    Raises:
        FileNotFoundError, ValueError: as `read_sweep` and `Sweep.plan`.
    """
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
    """Those of the stored that have failed."""
    earlier: Mapping[str, int]
    """Of each agent, stored repetitions that an earlier version of its algorithm played."""

    @property
    def notes(self) -> list[str]:
        """Say what is stored and yet not continued."""
        return [
            f"{agent}: {count} stored repetitions were played by an earlier version of its algorithm. They stay, "
            "reports show them as such, and they are not continued."
            for agent, count in self.earlier.items()
        ]


def find_work(
    plan: SweepPlan, stored: Mapping[tuple[str, int], Stored], diagnostics: bool = False, retry_failed: bool = False
) -> Work:
    """Part a plan by what is stored.

    What is stored is not played again, unless it has failed and `retry_failed`, or it has finished without diagnostics
    and they are asked for.
    """
    to_do, failed, earlier = [], 0, Counter[str]()
    for one in plan.repetitions:
        found = stored.get(one.place)
        earlier[one.key.agent] += sum((key, one.seed) in stored for key in one.key.earlier_hashes)
        if found is None:
            to_do.append(one)
        elif found.failed:
            failed += not retry_failed
            to_do += [one] * retry_failed
        elif diagnostics and not found.diagnosed:
            to_do.append(one)
    return Work(tuple(to_do), len(plan.repetitions) - len(to_do), failed, +earlier)


def describe_work(
    plan: SweepPlan, out: str | Path, workers: int, diagnostics: bool = False, retry_failed: bool = False
) -> str:
    """Say how many repetitions there are, how many are stored, and about how long the rest will take.

    A repetition is taken to last as long as those like it did: with equal settings, else of the same agent, else any.
    """
    stored: Mapping[tuple[str, int], Stored] = {}
    times: Mapping[str, float] = {}
    if (Path(out) / FILE_NAME).is_file():
        store = ResultStore(Path(out))
        stored, times = store.stored(), store.mean_wall_times()
    work = find_work(plan, stored, diagnostics, retry_failed)
    counts = f"{len(plan.repetitions)} repetitions, {work.reused} stored, {len(work.to_do)} to play"
    return "\n".join([f"{plan.title}: {counts}{_time_left(work, times, workers)}", *work.notes])


def _time_left(work: Work, times: Mapping[str, float], workers: int) -> str:
    if not times or not work.to_do:
        return "; none is timed yet." if work.to_do else "."
    anyone = sum(times.values()) / len(times)
    seconds = [times.get(one.key.settings_hash, times.get(one.key.agent, anyone)) for one in work.to_do]
    return f"; about {sum(seconds) / workers / 60:.0f} minutes with {workers} workers."
