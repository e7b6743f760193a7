"""Run calls in this process, in parallel processes, or on a Dask cluster, and retry once if a worker dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
)
from concurrent.futures import wait as wait_for
from functools import partial
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    pass

SECONDS_TO_CONNECT = 20  # to a scheduler
SECONDS_TO_LEAVE = 20  # for idle processes to exit
ATTEMPTS = 2  # at a call if a worker dies

P = ParamSpec("P")
T = TypeVar("T")
Task = TypeVar("Task", bound=tuple[object, ...])


def count_cores() -> int:
    """Return the number of cores that this process may use, on any platform."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class SchedulerLostError(ConnectionError):
    """The cluster is no longer reachable. Finished work is stored, and the same command continues from there."""


class Workers(Executor):
    """An executor that survives the death of a worker. Only the calls of that worker fail."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """Return the number of calls that it accepts at a time."""

    def abandon(self) -> None:
        """Stop at once. Unfinished repetitions are lost."""
        self.shutdown(wait=False, cancel_futures=True)


class InProcess(Workers):
    """Executor in this process. `submit` makes the call at once, and an interrupt reaches the caller."""

    slots = 1

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Make the call."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the future holds it, as in every executor
            future.set_exception(error)
        return future


class Processes(Workers):
    """Processes on this machine, each in a separate pool, so that the death of one loses only its call.

    They are spawned, because a fork may inherit threads and locks.

    Args:
        count: number of processes.

    Raises:
        ValueError: if `count` is less than one.
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError(f"Expected at least one process. Got {count}.")
        self._pools = [_open_pool() for _ in range(count)]
        self._calls: list[Future[Any] | None] = [None] * count
        self._workers: set[BaseProcess] = set()

    @property
    def slots(self) -> int:
        """Return the number of processes."""
        return len(self._pools)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Send a call to a free process, or to its replacement if it has died.

        Raises:
            RuntimeError: if all processes are busy, or a replacement dies before its first call.
        """
        index = next(index for index, call in enumerate(self._calls) if call is None or call.done())
        strangers = set(multiprocessing.active_children()) - self._workers
        try:
            call = self._pools[index].submit(fn, *args, **kwargs)
        except BrokenExecutor:
            self._replace(index)
            call = self._pools[index].submit(fn, *args, **kwargs)
        self._workers = set(multiprocessing.active_children()) - strangers
        self._calls[index] = call
        return call

    def _replace(self, index: int) -> None:
        self._pools[index].shutdown(wait=False)
        self._pools[index] = _open_pool()
        try:
            self._pools[index].submit(os.getpid).result()  # wait until it has started
        except BrokenExecutor as error:
            raise RuntimeError(
                "Expected workers to start. They die at once: is the script guarded by `if __name__ == '__main__':`?"
            ) from error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes after their calls. A suspended process that does not exit is killed."""
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=cancel_futures)
        if wait:
            wait_for(call for call in self._calls if call is not None)
            deadline = time.monotonic() + SECONDS_TO_LEAVE
            for worker in self._workers:
                worker.join(max(0.0, deadline - time.monotonic()))
            self._kill()

    def abandon(self) -> None:
        """End the processes at once."""
        self._kill()
        super().abandon()

    def _kill(self) -> None:
        for worker in self._workers:
            worker.kill()  # a suspended process ignores weaker signals


def _open_pool() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=context, initializer=prepare_process)


class DaskExecutor(Workers):
    """A Dask cluster, which replaces workers that die.

    Args:
        address: address of its scheduler, `tcp://host:port`.

    Raises:
        MissingExtraError: if `distributed` is not installed (install the extra `distributed`).
        SchedulerLostError: if there is no scheduler at this address.
    """

    def __init__(self, address: str) -> None:
        from graph_bandit_env.extras import require  # its package imports Gymnasium

        require("distributed", "Playing on a Dask cluster")
        from distributed import Client

        try:
            self._client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise SchedulerLostError(f"Expected a Dask scheduler at {address}. Got: {error}.") from error
        self._executor = self._client.get_executor(pure=False, retries=0)

    @property
    def threads(self) -> int:
        """Return the current number of threads of the cluster, which may grow."""
        try:
            return max(1, int(sum(self._client.nthreads().values())))
        except (OSError, TimeoutError) as error:
            raise SchedulerLostError(
                f"The scheduler cannot be reached any more ({error}). Finished work is stored."
            ) from error

    @property
    def slots(self) -> int:
        """Return two slots per thread, so that no thread waits for its next call."""
        return 2 * self.threads

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Send a call to the cluster."""
        future: Future[T] = self._executor.submit(fn, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnect from the cluster, which keeps running."""
        self._executor.shutdown(wait=wait)
        self._client.close(timeout=5)


def choose_workers(count: int | None, scheduler: str | None) -> tuple[Callable[[], Workers], int]:
    """Read `workers` and `scheduler` of `PlaySettings`.

    Returns:
        A function that opens the workers, and the number of repetitions that they play at a time.

    Raises:
        ValueError: if `count` is negative.
        SchedulerLostError: if there is no scheduler at this address.
    """
    if count is not None and count < 0:
        raise ValueError(f"Expected `--workers` to be at least 0. Got {count}.")
    if scheduler:
        with DaskExecutor(scheduler) as cluster:
            return partial(DaskExecutor, scheduler), cluster.threads
    if count is None:
        return InProcess, 1
    return partial(Processes, count or count_cores()), count or count_cores()


def run_in_parallel(
    function: Callable[..., T],
    tasks: Iterable[Task],
    workers: Workers,
    attempts: int = ATTEMPTS,
) -> Generator[tuple[Task, T | Exception]]:
    """Yield each task with the result or the error of its call, as soon as it is available.

    Close the generator to stop all calls.

    Args:
        function: called with the entries of a task. Workers must be able to import it.
        tasks: consumed one by one, when a worker is free.
        workers: shut down at the end, or abandoned on an exception.
        attempts: number of attempts at a call whose worker dies, before the `BrokenExecutor` is yielded.

    Raises:
        SchedulerLostError: if the cluster is no longer reachable.
        RuntimeError: if workers die before their first call.
    """
    waiting, again = ((task, 1) for task in tasks), deque[tuple[Task, int]]()
    flying: dict[Future[T], tuple[Task, int]] = {}
    try:
        while True:
            for _ in range(workers.slots - len(flying)):
                following = again.popleft() if again else next(waiting, None)
                if following is None:
                    break
                flying[workers.submit(function, *following[0])] = following
            if not flying:
                break
            for future in wait_for(flying, return_when=FIRST_COMPLETED).done:
                task, attempt = flying.pop(future)
                result = _result_of(future)
                if isinstance(result, BrokenExecutor) and attempt < attempts:
                    again.append((task, attempt + 1))
                else:
                    yield task, result
    except BaseException:
        workers.abandon()
        raise
    workers.shutdown()


def _result_of(future: Future[T]) -> T | Exception:
    try:
        return future.result()
    except CancelledError as error:
        raise SchedulerLostError("The connection to the scheduler is lost. Finished work is stored.") from error
    except Exception as error:  # noqa: BLE001 - an error of one call must not stop the others
        return error


def prepare_process() -> None:
    """Ignore Ctrl-C, which the driver handles, and exit when the driver does, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_the_driver, daemon=True).start()


def _leave_with_the_driver() -> None:
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()  # returns at once if it is gone already
        os._exit(1)
