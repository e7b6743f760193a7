"""Where repetitions are played: executors for this process, for others, and for a Dask cluster."""

from __future__ import annotations

import multiprocessing
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from functools import partial
from multiprocessing.process import BaseProcess
from typing import Any, ParamSpec, TypeVar

from graph_bandit_lab.execution.cores import count_cores
from graph_bandit_lab.execution.worker import prepare_process, ready

SECONDS_TO_CONNECT = 20  # to a scheduler

P = ParamSpec("P")
T = TypeVar("T")


class SchedulerLostError(ConnectionError):
    """The cluster cannot be reached any more. What was finished is stored; the same command goes on from there."""


class Workers(Executor):
    """An executor that survives the death of a worker, which breaks only the calls that were with it."""

    here = False
    """Whether calls are made in this process, so that they can tell how far they are."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """Return how many calls it takes at a time."""

    def abandon(self) -> None:
        """Leave at once: what is half played is worth nothing."""
        self.shutdown(wait=False, cancel_futures=True)


class InProcess(Workers):
    """This process itself: a call is made where it is submitted, and what interrupts it interrupts the caller."""

    here = True
    slots = 1

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Make the call."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - kept, as every executor does
            future.set_exception(error)
        return future


class Processes(Workers):
    """Processes on this machine, each a pool by itself: one that dies takes nothing along but what it played.

    They are started afresh, for a fork may inherit threads and locks.

    Args:
        count: how many.

    Raises:
        ValueError: if that is less than one.
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError(f"Expected at least one process. Got {count}.")
        self._pools = [_open_pool() for _ in range(count)]
        self._calls: list[Future[Any] | None] = [None] * count
        self._workers: set[BaseProcess] = set()

    @property
    def slots(self) -> int:
        """Return one for each process."""
        return len(self._pools)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Send a call to a process that has none; where one died, to its successor.

        Raises:
            RuntimeError: if all are busy, or a successor dies before it has been given anything.
        """
        free = [place for place, call in enumerate(self._calls) if call is None or call.done()]
        if not free:
            raise RuntimeError(f"Expected at most {self.slots} calls at a time. Got one more.")
        place = free[0]
        strangers = set(multiprocessing.active_children()) - self._workers
        try:
            call = self._pools[place].submit(fn, *args, **kwargs)
        except BrokenExecutor:
            self._replace(place)
            call = self._pools[place].submit(fn, *args, **kwargs)
        self._workers = set(multiprocessing.active_children()) - strangers
        self._calls[place] = call
        return call

    def _replace(self, place: int) -> None:
        self._pools[place].shutdown(wait=False)
        self._pools[place] = _open_pool()
        try:
            self._pools[place].submit(ready).result()
        except BrokenExecutor as error:
            raise RuntimeError(
                "Expected workers that start. They die at once: is the script guarded by `if __name__ == '__main__':`?"
            ) from error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the processes end."""
        for pool in self._pools:
            pool.shutdown(wait=wait, cancel_futures=cancel_futures)

    def abandon(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.terminate()
        super().abandon()


def _open_pool() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=context, initializer=prepare_process)


class DaskExecutor(Workers):
    """A Dask cluster, which replaces its workers itself.

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
        """Return the number of threads of the cluster, of which there may be more later."""
        try:
            return max(1, int(sum(self._client.nthreads().values())))
        except (OSError, TimeoutError) as error:
            raise SchedulerLostError(f"The scheduler is gone ({error}). What was finished is stored.") from error

    @property
    def slots(self) -> int:
        """Return two for each thread, so that none waits for the next call."""
        return 2 * self.threads

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Send a call to the cluster."""
        future: Future[T] = self._executor.submit(fn, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, which lives on."""
        self._executor.shutdown(wait=wait)
        self._client.close(timeout=5)


def choose_workers(count: int | None, scheduler: str | None) -> tuple[Callable[[], Workers], int]:
    """Read `workers` and `scheduler` of `PlaySettings`.

    Returns:
        What opens the workers, and how many repetitions they play at a time.

    Raises:
        ValueError: if it is negative.
        SchedulerLostError: if there is no scheduler.
    """
    if count is not None and count < 0:
        raise ValueError(f"Expected `--workers` to be at least 0. Got {count}.")
    if scheduler:
        with DaskExecutor(scheduler) as cluster:
            return partial(DaskExecutor, scheduler), cluster.threads
    if count is None:
        return InProcess, 1
    return partial(Processes, count or count_cores()), count or count_cores()
