"""Make a pass over a prepared pool: a call for each part, in any number of processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TypeVar

from tqdm import tqdm

from graph_bandit_campaign.pool.prepared import PreparedPool
from graph_bandit_campaign.pool.source import Source
from graph_bandit_campaign.workers import results_of, say
from graph_bandit_lab.execution import choose_workers

T = TypeVar("T")


def make_pass(
    pool: PreparedPool,
    source: Source,
    work: Callable[[int], T],
    kept: str,
    unit: str,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[T]:
    """Yield what a function returns for each part, in the order in which it is ready.

    Args:
        pool: the pool.
        source: says which workers make the calls.
        work: given the number of a part; it can be sent to other processes.
        kept: says in messages what becomes of what was finished.
        unit: word for what a bar counts.
        stop: returns whether no other part is begun.

    Raises:
        ChildProcessError: an OSError, if two processes die at the same part.
    """
    open_workers, _ = choose_workers(source.workers, source.scheduler)
    parts = ((number,) for number in range(len(pool.parts)) if not stop())  # those before are under way already
    results = results_of(open_workers(), work, parts, lambda number: str(pool.parts[number].path), kept)
    with closing(results), tqdm(total=len(pool.parts), unit=f" parts of {unit}", disable=None, file=sys.stderr) as bar:
        for number, result in enumerate(results, start=1):
            bar.update()
            say(f"Part {number:,} of {len(pool.parts):,} of {unit} is scanned.")
            yield result
