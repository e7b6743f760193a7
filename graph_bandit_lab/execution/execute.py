"""Make calls in parallel, such as those that play repetitions; a call whose worker dies is made again."""

from __future__ import annotations

import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import closing
from typing import TypeVar

from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.execution.executors import SchedulerLostError, Workers
from graph_bandit_lab.execution.worker import Outcome, failed, play

ATTEMPTS = 2  # at a call during which a worker dies
SILENCE = 600.0  # seconds without a result, and
LONGER = 10.0  # times the longest call, after which those that are still under way are named

Result = TypeVar("Result")
Task = TypeVar("Task", bound=tuple[object, ...])


def run_in_parallel(
    function: Callable[..., Result],
    tasks: Iterable[Task],
    workers: Workers,
    attempts: int = ATTEMPTS,
    on_silence: Callable[[float, Sequence[Task]], object] = lambda seconds, tasks: None,
) -> Generator[tuple[Task, Result | Exception]]:
    """Yield each task with the result or the error of its call, as soon as it is there.

    Close the generator to stop all calls.

    Args:
        function: is called with the entries of a task. Workers must be able to import it.
        tasks: are taken one by one, when a worker is free.
        workers: are shut down at the end, or abandoned if anything is raised.
        attempts: at a call whose worker dies; then it yields the `BrokenExecutor`.
        on_silence: takes the seconds since the last result, and the tasks that are under way, where that is much longer
            than any call took. They are waited for all the same.

    Raises:
        SchedulerLostError: if the cluster cannot be reached any more.
        RuntimeError: if workers die before their first call.
    """
    waiting, again = ((task, 1) for task in tasks), deque[tuple[Task, int]]()
    flying: dict[Future[Result], tuple[Task, int, float]] = {}
    longest, silence = 0.0, 0.0
    try:
        while True:
            for _ in range(workers.slots - len(flying)):
                following = again.popleft() if again else next(waiting, None)
                if following is None:
                    break
                begin = time.monotonic()
                flying[workers.submit(function, *following[0])] = *following, begin
            if not flying:
                break
            patience = max(SILENCE, LONGER * longest, silence) if longest else None
            done = wait(flying, patience, FIRST_COMPLETED).done
            silence = 0.0 if done or patience is None else silence + patience
            if silence:
                on_silence(silence, [task for task, *_ in flying.values()])
            for future in done:
                task, attempt, begin = flying.pop(future)
                longest = max(longest, time.monotonic() - begin)
                result = _result_of(future)
                if isinstance(result, BrokenExecutor) and attempt < attempts:
                    again.append((task, attempt + 1))
                else:
                    yield task, result
    except BaseException:
        workers.abandon()
        raise
    workers.shutdown()


def execute(
    repetitions: Iterable[Repetition],
    workers: Workers,
    on_done: Callable[[Repetition, Outcome], None],
    diagnose: bool = False,
    function: Callable[[Repetition, bool], Outcome] = play,
    on_silence: Callable[[float, Sequence[Repetition]], object] = lambda seconds, repetitions: None,
) -> None:
    """Play repetitions in parallel, and hand over each outcome as soon as it is there.

    A repetition whose worker dies is tried again; the second time it is handed over as failed.

    Args:
        repetitions: the repetitions to play.
        workers: as in `run_in_parallel`, which says what is raised.
        on_done: takes each outcome, in this process.
        diagnose: record diagnostics.
        function: plays one repetition. Workers must be able to import it.
        on_silence: as in `run_in_parallel`, with the repetitions that are still played.
    """
    tasks = ((repetition, diagnose) for repetition in repetitions)

    def tell(seconds: float, playing: Sequence[tuple[Repetition, bool]]) -> None:
        on_silence(seconds, [repetition for repetition, _ in playing])

    with closing(run_in_parallel(function, tasks, workers, on_silence=tell)) as results:
        for (repetition, _), result in results:
            on_done(repetition, result if isinstance(result, Outcome) else _failure_of(result))


def _result_of(future: Future[Result]) -> Result | Exception:
    try:
        return future.result()
    except CancelledError as error:
        raise SchedulerLostError("The scheduler cannot be reached any more. What was finished is stored.") from error
    except Exception as error:  # noqa: BLE001 - an error of one call must not stop the others
        return error


def _failure_of(error: Exception) -> Outcome:
    """Return the outcome of a repetition that was not played to its end."""
    if isinstance(error, BrokenExecutor):
        return failed(f"The worker that played this died, {ATTEMPTS} times.")
    return failed("".join(traceback.format_exception(error)))  # of the worker: a cluster's KilledWorker, say
