"""Make calls in parallel, say how far they are, and in a chemist's words what becomes of the rest if workers die."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import closing, contextmanager
from contextvars import ContextVar
from multiprocessing import get_context
from typing import TypeVar

from graph_bandit_lab.execution import SchedulerLostError, Workers, run_in_parallel

S = TypeVar("S")
T = TypeVar("T")
MOST_PROCESSES = 61  # Windows cannot wait for more


LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("LISTENER", default=None)


@contextmanager
def listening(report: Callable[[str], None]) -> Iterator[None]:
    """Report how far this thread is, for a `with` block.

    Args:
        report: takes a line for people.
    """
    token = LISTENER.set(report)
    try:
        yield
    finally:
        LISTENER.reset(token)


def say(line: str) -> None:
    """Report a line to who listens, if somebody does."""
    if (report := LISTENER.get()) is not None:
        report(line)


def results_of(
    workers: Workers,
    call: Callable[..., T],
    arguments: Iterable[tuple[object, ...]],
    name: Callable[..., str],
    kept: str,
) -> Generator[T]:
    """Yield the results of calls in the order in which they come.

    Args:
        workers: make the calls, and are shut down at the end, or abandoned if anything is raised.
        call: a function that can be sent to them.
        arguments: the arguments of each call.
        name: given the arguments of a call, names it in messages.
        kept: says in messages what becomes of what was finished.

    Raises:
        ChildProcessError: an OSError, if two workers die over the same call.
        SchedulerLostError: an OSError, if a cluster cannot be reached any more.
    """
    try:
        with closing(run_in_parallel(call, arguments, workers)) as results:
            for given, result in results:
                if isinstance(result, deaths()):
                    raise ChildProcessError(
                        f"Two workers died over {name(*given)}, perhaps for lack of memory, or over a "
                        f"molecule that RDKit cannot bear. {kept}"
                    ) from result
                if isinstance(result, Exception):
                    raise result
                yield result
    except SchedulerLostError as error:
        raise SchedulerLostError(f"The scheduler cannot be reached any more. {kept}") from error


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
