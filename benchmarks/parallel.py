"""Calls in processes of their own, each worth minutes: what is finished is handed over at once."""

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
    """Yield each task with what the function returned for it, or raised, in the order in which they are finished.

    Close the generator to end the processes: a driver that stops leaves none behind.

    Args:
        function: of the entries of a task; it can be pickled.
        tasks: what to call it with.
        workers: processes.
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
    except Exception as error:  # noqa: BLE001 - of any call; the others go on
        return error
