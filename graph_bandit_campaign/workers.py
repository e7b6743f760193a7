"""Make calls in parallel, say how far they are, and in a chemist's words what becomes of the rest if workers die."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from tqdm import tqdm

from graph_bandit_lab.execution import choose_workers, run_in_parallel

T = TypeVar("T")


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
    call: Callable[..., T],
    arguments: Iterable[tuple[object, ...]],
    workers: int | None,
    name: str,
    kept: str,
    unit: str,
    total: int | None = None,
) -> Generator[T]:
    """Yield the results of calls in the order in which they come, and show how many there are.

    Args:
        call: a function that can be sent to processes.
        arguments: the arguments of each call.
        workers: most processes; 0: one for each core; None: this process itself.
        name: names a call in messages, formatted with its arguments.
        kept: says in messages what becomes of what was finished.
        unit: word for a call.
        total: how many calls there are; None: results are counts of these units.

    Raises:
        ChildProcessError: an OSError, if two workers die over the same call.
    """
    open_workers, _ = choose_workers(workers, None)
    bar: tqdm[Any] = tqdm(total=total, unit=f" {unit}", unit_scale=total is None, disable=None, file=sys.stderr)
    with bar, closing(run_in_parallel(call, arguments, open_workers())) as results:
        for done, (given, result) in enumerate(results, start=1):
            if isinstance(result, BrokenExecutor):
                text = f"Two workers died over {name.format(*given)}, perhaps for lack of memory. {kept}"
                raise ChildProcessError(text) from result
            if isinstance(result, Exception):
                raise result
            bar.update(result if total is None else 1)  # type: ignore[arg-type]
            if total is not None:
                say(f"{done:,} of {total:,} {unit} are done.")
            yield result
