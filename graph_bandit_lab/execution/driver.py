"""Drive a run or a sweep: play missing repetitions, and store each of them immediately."""

from __future__ import annotations

import logging
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import registry
from graph_bandit_lab.design.names import describe_environment, name_environments
from graph_bandit_lab.design.plan import Grid, Repetition, Sweep, SweepPlan, derive_seeds
from graph_bandit_lab.design.settings import AgentSpec, RunSettings
from graph_bandit_lab.episodes.feedback import check_diagnosable
from graph_bandit_lab.execution.executors import ATTEMPTS, InProcess, Workers, choose_workers, run_in_parallel
from graph_bandit_lab.execution.worker import Outcome, failed, play
from graph_bandit_lab.formats import format_duration
from graph_bandit_lab.storage.database import sole_driver
from graph_bandit_lab.storage.results import FILE_NAME, ResultStore, Stored
from graph_bandit_lab.storage.transfer import Exports, open_exports

LOG_NAME = "sweep.log"


@dataclass(frozen=True)
class Tally:
    """Counts of the repetitions of a run or a sweep."""

    played: int
    reused: int
    failed: int
    """Number of failed repetitions among these, now or earlier."""
    taken: int = 0
    """Number of repetitions from exported files. Those in the plan also count as reused."""
    report: Path | None = None
    """The page of the report, if `run_sweep` wrote one."""


def run_sweep(
    plan: Sweep | SweepPlan,
    out: str | Path,
    open_workers: Callable[[], Workers] = InProcess,
    *,
    diagnostics: bool = False,
    retry_failed: bool = False,
    progress: bool = True,
    report: bool = True,
    continue_from: Sequence[str | Path] = (),
) -> Tally:
    """Play the repetitions missing from a folder, and store each immediately, in one transaction.

    Results depend only on settings and seeds, not on the worker. A repetition that raises is stored as failed, with its
    traceback, and the others continue. It counts as stored until `retry_failed` plays it again.

    Args:
        plan: a sweep, or its plan (from `Sweep.plan`).
        out: folder of the results, which may also hold results of other sweeps. Its `sweep.log` gets a line for each
            repetition.
        open_workers: opens the workers: `InProcess`, `Processes` or a `DaskExecutor`.
        diagnostics: record diagnostics. Repetitions stored without them are played again.
        retry_failed: play failed repetitions again.
        progress: show a bar.
        report: write the report of the folder at the end, as `write_report` does.
        continue_from: files from `export_results`. Their repetitions are imported into the folder first, not played.

    Returns:
        The numbers of repetitions that were played, reused and failed, and the page of the report.

    Raises:
        FileNotFoundError: if a file to continue from does not exist.
        ValueError: if an agent or a setting is invalid, the results file or a file to continue from is damaged, or
            another process uses the folder. Nothing is played then.
        SchedulerLostError: if the cluster is no longer reachable.
    """
    plan = plan.plan() if isinstance(plan, Sweep) else plan
    with open_exports(continue_from) as exports, sole_driver(Path(out)):
        store = ResultStore(Path(out))
        tally = _play_missing(plan, store, exports, open_workers, diagnostics, retry_failed, progress)
    if not report:
        return tally
    from graph_bandit_lab.reports.report import write_report  # which imports matplotlib

    return replace(tally, report=write_report(out))


def run_experiment(settings: RunSettings) -> Tally:
    """Play the repetitions of a run, a sweep of one environment. All agents play the same instances.

    Args:
        settings: the environment, the agents, the number of repetitions, and how they are played.

    Returns:
        The numbers of repetitions that were played, reused and failed. `write_report(settings.out)` writes the report.

    Raises:
        FileNotFoundError: if a file to continue from does not exist.
        ValueError: if an agent or a setting is invalid, the folder or a file to continue from holds results of another
            environment or is damaged, or another process uses the folder. Nothing is changed then.
    """
    plan = plan_run(settings)
    open_workers, _ = choose_workers(settings.workers, settings.scheduler)
    with open_exports(settings.continue_from) as exports, sole_driver(settings.out):
        held = exports.store.environments() if exports else []
        held += [] if settings.overwrite else ResultStore(settings.out).environments()
        wanted = settings.environment.to_dict()
        if others := [other for other in held if other != wanted]:
            difference, _ = name_environments([others[0], wanted])
            raise ValueError(
                f"Expected this environment alone in {settings.out} and in what it continues. Got {difference}. "
                "Choose another folder with --out, or throw results away with --overwrite."
            )
        if settings.overwrite:
            (settings.out / FILE_NAME).unlink(missing_ok=True)
        how = settings.diagnostics, settings.retry_failed, settings.progress
        return _play_missing(plan, ResultStore(settings.out), exports, open_workers, *how)


def plan_run(settings: RunSettings) -> SweepPlan:
    """Check settings and return every repetition of a run.

    Raises:
        ValueError: if an agent or a setting is invalid.
    """
    AgentSpec.admit(settings.agents)
    grid = Grid((settings.environment,), tuple(map(AgentSpec.parse, settings.agents)))
    title = describe_environment(settings.environment.describe())
    return Sweep(title=title, grids=(grid,), seeds=derive_seeds(settings.seed, settings.repetitions)).plan()


def describe_work(
    plan: SweepPlan,
    out: str | Path,
    diagnostics: bool = False,
    retry_failed: bool = False,
    continue_from: Sequence[str | Path] = (),
) -> str:
    """Return a text with the numbers of repetitions that are planned, stored, and to be played.

    Args:
        plan: the planned repetitions.
        out: folder of the results, which need not exist.
        diagnostics: as in `run_sweep`.
        retry_failed: as in `run_sweep`.
        continue_from: files from `export_results`. Their repetitions count as stored.
    """
    with open_exports(continue_from) as exports:
        stored = {} if exports is None else exports.store.stored()
    if (Path(out) / FILE_NAME).is_file():
        there = ResultStore(Path(out)).stored()
        stored |= {key: row for key, row in there.items() if not (row.failed and key in stored)}
    work = find_work(plan, stored, diagnostics, retry_failed)
    text = f"{plan.title}: {len(plan.repetitions)} repetitions, {work.reused} stored, {len(work.to_do)} to play."
    return "\n".join([text, *plan.notes, *work.notes])


@dataclass(frozen=True)
class Work:
    """A plan, split into stored and missing repetitions."""

    to_do: tuple[Repetition, ...]
    reused: int
    """Repetitions that are stored."""
    failed: int
    """Stored repetitions that have failed."""
    notes: tuple[str, ...]
    """Notes on agents whose stored repetitions may come from other code."""


def find_work(
    plan: SweepPlan, stored: Mapping[tuple[str, int], Stored], diagnostics: bool = False, retry_failed: bool = False
) -> Work:
    """Split a plan into stored and missing repetitions.

    A stored repetition is played again only if it has failed and `retry_failed` is set, or if it was stored without
    diagnostics and they are requested now.
    """
    to_do, failed, unversioned = list[Repetition](), 0, Counter[str]()
    scripted = registry.registered_agents()
    for repetition in plan.repetitions:
        before, agent = stored.get(repetition.identity), repetition.key.agent
        if before is None or (before.failed and retry_failed):
            to_do.append(repetition)
        elif before.failed:
            failed += 1
        elif diagnostics and not before.diagnosed:
            to_do.append(repetition)
        elif agent in scripted or registry.names_a_file(agent):
            unversioned[agent] += 1
    notes = tuple(
        f"{agent}: {count} stored repetitions are not played again. Changes of its file are not detected. If it plays "
        "differently now, raise its `algorithm`, or use another folder."
        for agent, count in unversioned.items()
    )
    return Work(tuple(to_do), len(plan.repetitions) - len(to_do), failed, notes)


def _take(exports: Exports | None, store: ResultStore, plan: SweepPlan) -> tuple[int, list[str]]:
    """Import the repetitions of exports, and return their number and notes on them."""
    if exports is None:
        return 0, []
    imported = exports.give(store)
    others = exports.store.stored().keys() - {repetition.identity for repetition in plan.repetitions}
    note = (
        f"{len(others)} repetitions of the files are not part of this plan: they have other settings or seeds, or "
        "another version of an algorithm has played them. They are in the folder, and reports show them."
    )
    return imported.taken, [*imported.notes, *([note] if others else [])]


def _play_missing(
    plan: SweepPlan,
    store: ResultStore,
    exports: Exports | None,
    open_workers: Callable[[], Workers],
    diagnostics: bool,
    retry_failed: bool,
    progress: bool,
) -> Tally:
    if diagnostics:
        for repetition in plan.repetitions:
            check_diagnosable(repetition.feedback)
    taken, notes = _take(exports, store, plan)
    stored = store.stored()
    work = find_work(plan, stored, diagnostics, retry_failed)
    store.relabel({repetition.key.settings_hash: repetition.label for repetition in plan.repetitions})
    store.add_tasks(plan.tasks)
    failures, said = 0, set[tuple[str, str, str]]()
    with closing(Progress(work.to_do, progress)) as bar, _open_log(store.path.parent / LOG_NAME) as log:

        def warn(text: str) -> None:
            log.warning("%s", text)
            if progress:
                bar.print(text)

        def keep(repetition: Repetition, outcome: Outcome) -> None:
            nonlocal failures
            key, seed = repetition.key, repetition.seed
            earlier = stored.get(repetition.identity)
            if earlier is None or earlier.failed:
                result, error = outcome.result, outcome.error
                name = repetition.pool.name if repetition.pool else ""
                store.add(key, seed, repetition.label, result, outcome.wall_time, error, outcome.versions, name)
            elif not outcome.error:
                store.add_diagnostics(key, seed, outcome.result)
            for remark in outcome.remarks:
                about = repetition.label, key.environment_key, remark.split(":")[0]
                tell = log.info if about in said else warn
                tell(f"{bar.name_pair(repetition)}: {remark}")
                said.add(about)
            log.info("%s", bar.line(repetition, outcome))
            if outcome.error:
                failures += 1
                log.error("%s failed:\n%s", bar.name(repetition), outcome.error)
                if failures == 1:
                    bar.print(f"{bar.name(repetition)} failed:\n{outcome.error}")
            bar.finish(repetition, outcome)

        log.info("%s: %d repetitions, %d to play", plan.title, len(plan.repetitions), len(work.to_do))
        for note in (*notes, *plan.notes, *work.notes):
            warn(note)
        if work.to_do:
            tasks = ((repetition, diagnostics) for repetition in work.to_do)
            with closing(run_in_parallel(play, tasks, open_workers())) as results:
                for (repetition, _), result in results:
                    keep(repetition, result if isinstance(result, Outcome) else _failure_of(result))
    return Tally(len(work.to_do), work.reused, work.failed + failures, taken)


def _failure_of(error: Exception) -> Outcome:
    """Return the outcome of a repetition that was not finished."""
    if isinstance(error, BrokenExecutor):
        return failed(f"The worker that played this died, {ATTEMPTS} times.")
    return failed("".join(traceback.format_exception(error)))  # from the worker, such as a cluster's KilledWorker


class Progress:
    """Progress bar with the finished repetitions and the time left.

    Args:
        to_do: the repetitions to play.
        shown: show the bar.
    """

    def __init__(self, to_do: Sequence[Repetition], shown: bool) -> None:
        from tqdm import tqdm

        environments = {repetition.key.environment_key: repetition.environment for repetition in to_do}
        self._environments = dict(zip(environments, name_environments(list(environments.values())), strict=True))
        self._shown, self._count, self._over, self._failed = shown and bool(to_do), len(to_do), 0, 0
        hidden = None if self._shown else True  # None: tqdm hides the bar unless it goes to a terminal
        self._bar = tqdm(total=len(to_do), unit="repetition", smoothing=0, disable=hidden, file=sys.stderr)
        self.close = self._bar.close

    def finish(self, repetition: Repetition, outcome: Outcome) -> None:
        """Count a finished repetition, and print a line if there is no bar."""
        self._over += 1
        self._failed += bool(outcome.error)
        self._bar.set_postfix_str(f"{self._failed} failed" if self._failed else "")
        self._bar.update()
        if self._shown and self._bar.disable:
            self.print(f"{self._over} of {self._count}: {self.line(repetition, outcome)}")

    def line(self, repetition: Repetition, outcome: Outcome) -> str:
        """Describe the outcome of a repetition in one line."""
        result, status = outcome.result, outcome.result.status
        played = f"regret {result.regret.sum():.4g} in {len(result.actions)} rounds"
        unfinished = "" if status == "finished" else f"{status}, "
        return f"{self.name(repetition)}: {unfinished}{played}, {format_duration(outcome.wall_time)}"

    def name(self, repetition: Repetition) -> str:
        """Name a repetition: agent, environment and seed."""
        return f"{self.name_pair(repetition)}, seed {repetition.seed}"

    def name_pair(self, repetition: Repetition) -> str:
        """Name the agent and environment of a repetition."""
        where = repetition.task or self._environments[repetition.key.environment_key]
        return f"{repetition.label}{where and f' on {where}'}"

    def print(self, text: str) -> None:
        """Print a text above the bar."""
        self._bar.write(text, file=sys.stderr)


@contextmanager
def _open_log(path: Path) -> Iterator[logging.Logger]:
    log = logging.getLogger(f"graph_bandit_lab.execution.{path.resolve()}")
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield log
    finally:
        log.removeHandler(handler)
        handler.close()
