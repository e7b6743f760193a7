"""Make calls in parallel, and hand over each result as it comes; a call whose worker dies is made once more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

from graph_bandit_lab.execution import SchedulerLostError, Workers

S = TypeVar("S")
T = TypeVar("T")
MOST_PROCESSES = 61  # Windows cannot wait for more
ATTEMPTS = 2  # at a call whose worker dies


@contextmanager
def opened(open_workers: Callable[[], Workers]) -> Iterator[Workers]:
    """Open workers for a `with` block; if it fails, they stop at once."""
    workers = open_workers()
    try:
        yield workers
    except BaseException:
        workers.abandon()
        raise
    workers.shutdown()


def results_of(
    workers: Workers,
    call: Callable[..., T],
    arguments: Iterable[tuple[object, ...]],
    name: Callable[..., str],
    kept: str,
) -> Iterator[T]:
    """Yield the results of calls in the order in which they come.

    Args:
        workers: make the calls; as many are under way at a time as they have slots.
        call: a function that can be sent to them.
        arguments: the arguments of each call.
        name: given the arguments of a call, names it in messages.
        kept: says in messages what becomes of what was finished.

    Raises:
        ChildProcessError: an OSError, if two workers die over the same call.
        SchedulerLostError: an OSError, if a cluster cannot be reached any more.
    """
    waiting = ((each, 1) for each in arguments)
    again: list[tuple[tuple[object, ...], int]] = []
    flying: dict[Future[T], tuple[tuple[object, ...], int]] = {}
    while True:
        while len(flying) < workers.slots and (following := again.pop() if again else next(waiting, None)):
            flying[workers.submit(call, *following[0])] = following
        if not flying:
            return
        for future in wait(flying, return_when=FIRST_COMPLETED).done:
            each, attempt = flying.pop(future)
            try:
                result = future.result()
            except deaths() as error:
                if attempt == ATTEMPTS or not isinstance(error, BrokenExecutor):  # a cluster has tried it again
                    raise ChildProcessError(
                        f"At least {ATTEMPTS} workers died over {name(*each)}, perhaps for lack of memory, or over a "
                        f"molecule that RDKit cannot bear. {kept}"
                    ) from error
                again.append((each, attempt + 1))
            except CancelledError as error:
                raise SchedulerLostError(f"The scheduler cannot be reached any more. {kept}") from error
            else:
                yield result


def map_in_processes(call: Callable[[S], T], parts: Sequence[S], workers: int) -> list[T]:
    """Return the results of calls in the order of their arguments, in processes of their own if there are several.

    Args:
        call: a function that can be sent to them.
        parts: its argument in each call.
        workers: most processes; with more than one, the script needs the guard `if __name__ == "__main__":`.
    """
    if min(workers, len(parts)) < 2:
        return list(map(call, parts))
    count = min(workers, len(parts), MOST_PROCESSES)
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        return list(pool.map(call, parts))


def deaths() -> tuple[type[BaseException], ...]:
    """Return the errors by which an executor says that a worker died, and a cluster that several did."""
    if "distributed" not in sys.modules:
        return (BrokenExecutor,)
    from distributed import KilledWorker

    return BrokenExecutor, KilledWorker
