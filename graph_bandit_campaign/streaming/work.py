"""Make calls in parallel, and hand over each result as it comes; a call whose worker dies is made once more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from itertools import islice
from typing import TypeVar

from graph_bandit_lab.execution import Workers

K = TypeVar("K")
T = TypeVar("T")


def results_of(
    open_workers: Callable[[], Workers], call: Callable[[K], T], keys: Iterable[K], name: Callable[[K], str]
) -> Iterator[tuple[K, T]]:
    """Yield each key and the result of the call with it, in the order in which they come.

    Args:
        open_workers: opens the workers, as from `choose_workers`.
        call: the function, which workers can unpickle.
        keys: its arguments; as many are under way at a time as there are slots.
        name: names a key in messages.

    Raises:
        ChildProcessError: an OSError, if two workers die at the same call.
    """
    waiting, again = iter(keys), set[int]()
    flying: dict[Future[T], tuple[int, K]] = {}
    workers = open_workers()
    try:
        numbered = enumerate(waiting)
        while True:
            for number, key in islice(numbered, workers.slots - len(flying)):
                flying[workers.submit(call, key)] = number, key
            if not flying:
                break
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                number, key = flying.pop(future)
                try:
                    result = future.result()
                except (BrokenExecutor, CancelledError) as error:
                    if number in again:
                        raise ChildProcessError(
                            f"Two processes died at work on {name(key)}, perhaps for lack of memory. Give fewer "
                            "--workers."
                        ) from error
                    again.add(number)
                    flying[workers.submit(call, key)] = number, key
                    continue
                yield key, result
    except BaseException:
        workers.abandon()
        raise
    workers.shutdown()
