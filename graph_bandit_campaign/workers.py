"""Run calls in parallel, show their progress, and explain failures of workers to users."""

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
    """Report the progress of this thread in a `with` block.

    Args:
        report: called with a line for people.
    """
    token = LISTENER.set(report)
    try:
        yield
    finally:
        LISTENER.reset(token)


def say(line: str) -> None:
    """Pass a line to the listener, if there is one."""
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
    """Yield the results of calls in order of completion, and show a progress bar.

    Args:
        call: a picklable function.
        arguments: the arguments of each call.
        workers: maximum number of processes. 0 means one for each core, None means only this process.
        name: name of a call in messages, formatted with its arguments.
        kept: sentence for messages about the finished results.
        unit: word for a call.
        total: number of calls. If None, results are counts of these units.

    Raises:
        ChildProcessError: an OSError, if two workers die during the same call.
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
