"""Play many repetitions on any executor of the `concurrent.futures` kind: processes here, or a Dask cluster."""

from __future__ import annotations

import multiprocessing
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from typing import Any

from graph_bandit_lab.plan import Repetition
from graph_bandit_lab.worker import Outcome, failed, play, prepare_process, ready

SECONDS_TO_CONNECT = 20  # to a scheduler
ATTEMPTS = 2  # of a repetition during which a worker dies


class SchedulerLostError(ConnectionError):
    """The cluster cannot be reached any more. What was finished is stored; the same command goes on from there."""


def processes(workers: int) -> Callable[[], Executor]:
    """Return what opens a pool of processes; they are started afresh, for a fork may inherit threads and locks."""

    def open_pool() -> Executor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(workers, mp_context=context, initializer=prepare_process)

    return open_pool


class DaskExecutor(Executor):
    """A Dask cluster as an executor.

    Args:
        address: of its scheduler, `tcp://host:port`.

    Raises:
        ImportError: if `distributed` is not installed (the extra of that name brings it).
        SchedulerLostError: if there is no scheduler.
    """

    def __init__(self, address: str) -> None:
        from distributed import Client

        try:
            self._client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise SchedulerLostError(f"Expected a Dask scheduler at {address}. Got: {error}.") from error
        self._executor = self._client.get_executor(pure=False, retries=0)

    @property
    def threads(self) -> int:
        """Return the number of threads of the cluster."""
        return sum(self._client.nthreads().values())

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a call to the cluster."""
        future: Future[Any] = self._executor.submit(fn, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, which lives on."""
        self._executor.shutdown(wait=wait)
        self._client.close(timeout=5)


def count_threads(address: str) -> int:
    """Return the number of threads of a Dask cluster.

    Raises:
        SchedulerLostError: if there is no scheduler.
    """
    executor = DaskExecutor(address)
    try:
        return max(1, executor.threads)
    finally:
        executor.shutdown()


def execute(
    repetitions: Iterable[Repetition],
    open_executor: Callable[[], Executor],
    in_flight: int,
    on_done: Callable[[Repetition, Outcome], None],
    diagnose: bool = False,
    function: Callable[..., Outcome] = play,
) -> None:
    """Play repetitions in parallel and hand each outcome over at once, in the order in which they are finished.

    When a worker dies, the pool is opened again, and what was in flight is tried again, one repetition at a time, so
    that the one which kills its worker is found: at its second attempt alone it is handed over as failed.

    Args:
        repetitions: to play.
        open_executor: opens an executor; called again when it breaks.
        in_flight: repetitions that are handed to it at a time, at least 1.
        on_done: takes each outcome, in this process.
        diagnose: record diagnostics.
        function: plays one repetition; importable by workers.

    Raises:
        SchedulerLostError: if a cluster has gone.
        RuntimeError: if workers die before they play.
    """
    waiting, suspects = iter(repetitions), deque[tuple[Repetition, int]]()
    flying: dict[Future[Outcome], tuple[Repetition, int]] = {}
    strangers = set(multiprocessing.active_children())
    executor = open_executor()
    try:
        while True:
            lost: list[tuple[Repetition, int]] = []
            alone = bool(suspects)
            while len(flying) < (1 if alone else in_flight) and not lost:
                following = suspects.popleft() if suspects else _next(waiting)
                if following is None:
                    break
                try:
                    flying[executor.submit(function, following[0], diagnose)] = following
                except BrokenExecutor:
                    lost.append(following)
            if not flying and not lost:
                return
            while flying and not lost:
                for future in wait(flying, return_when=FIRST_COMPLETED).done:
                    repetition, attempts = flying.pop(future)
                    outcome = _outcome_of(future)
                    if outcome is None:
                        lost.append((repetition, attempts))
                    else:
                        on_done(repetition, outcome)
                if not alone:
                    break
            if lost:
                lost += flying.values()
                flying.clear()
                executor.shutdown(wait=False, cancel_futures=True)
                executor = _reopen(open_executor)
                suspects.extend(_convict(lost, on_done))
    except BaseException:  # what is half played is worth nothing: leave at once
        for worker in set(multiprocessing.active_children()) - strangers:
            worker.terminate()
        raise
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def _next(waiting: Iterator[Repetition]) -> tuple[Repetition, int] | None:
    """Return what to play next, with the times that it killed a worker."""
    repetition = next(waiting, None)
    return None if repetition is None else (repetition, 0)


def _outcome_of(future: Future[Outcome]) -> Outcome | None:
    """Return the outcome of a repetition; None if its worker died."""
    try:
        return future.result()
    except BrokenExecutor:
        return None
    except CancelledError as error:
        raise SchedulerLostError("The scheduler is gone. What was finished is stored.") from error
    except Exception:  # noqa: BLE001 - of the worker, not of the play: a cluster's KilledWorker, say
        return failed(traceback.format_exc())


def _reopen(open_executor: Callable[[], Executor]) -> Executor:
    """Open a pool in place of a broken one, and see that it works."""
    executor = open_executor()
    try:
        executor.submit(ready).result()
    except BrokenExecutor as error:
        raise RuntimeError(
            "Expected workers that start. They die at once: is the script guarded by `if __name__ == '__main__':`?"
        ) from error
    return executor


def _convict(
    lost: list[tuple[Repetition, int]], on_done: Callable[[Repetition, Outcome], None]
) -> list[tuple[Repetition, int]]:
    """Count a lost worker against the repetition that was alone with it; return what is to be tried again."""
    if len(lost) > 1:
        return lost
    again = []
    for repetition, attempts in lost:
        if attempts + 1 < ATTEMPTS:
            again.append((repetition, attempts + 1))
        else:
            on_done(repetition, failed(f"The worker died {ATTEMPTS} times while it played this and nothing else."))
    return again
