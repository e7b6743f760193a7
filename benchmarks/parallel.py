"""Run calls that take minutes in parallel processes, and yield each result as soon as it is finished."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from typing import Any, TypeVar

from graph_bandit_lab import Processes

Result = TypeVar("Result")
Task = TypeVar("Task", bound=tuple[Any, ...])


def run_in_parallel(
    function: Callable[..., Result], tasks: Sequence[Task], workers: int
) -> Generator[tuple[Task, Result | Exception]]:
    """Yield each task with the result or the error of its call, in the order in which the calls finish.

    Close the generator to end all processes.

    Args:
        function: called with the entries of a task; it must be picklable.
        tasks: the arguments of each call.
        workers: how many processes to use.
    """
    waiting = iter(tasks)
    flying: dict[Future[Result], Task] = {}
    pool = Processes(workers)
    try:
        while True:
            for task in islice(waiting, pool.slots - len(flying)):
                flying[pool.submit(function, *task)] = task
            if not flying:
                break
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                yield flying.pop(future), _outcome_of(future)
    except BaseException:
        pool.abandon()
        raise
    pool.shutdown()


def _outcome_of(future: Future[Any]) -> Any:
    try:
        return future.result()
    except Exception as error:  # noqa: BLE001 - an error of one call must not stop the others
        return error
