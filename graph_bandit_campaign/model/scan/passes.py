"""Make a pass over a prepared pool: a call for each part, in any number of processes, with its time told before."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from tqdm import tqdm

from graph_bandit_campaign.pool.prepared import Block, PreparedPool
from graph_bandit_campaign.pool.source import Source
from graph_bandit_campaign.text import duration
from graph_bandit_campaign.workers import results_of, say
from graph_bandit_lab.execution import choose_workers

T = TypeVar("T")
MANY, SAMPLE = 20_000, 512  # molecules; above that the time is estimated first, by so many


@dataclass(frozen=True)
class Timed:
    """What is timed before a pass over many molecules."""

    columns: Sequence[str]
    """Columns of the pool that are read."""
    work: Callable[[Block], object]
    """What is done with a block."""
    tell: Callable[[int, int, str, int], str]
    """Says it, given molecules, molecules of the sample, the time as text, and how many parts are worked on at a time.
    """


def make_pass(
    pool: PreparedPool,
    source: Source,
    work: Callable[[int], T],
    timed: Timed,
    kept: str,
    unit: str,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[T]:
    """Yield what a function returns for each part, in the order in which it is ready.

    Args:
        pool: the pool.
        source: says which workers make the calls.
        work: given the number of a part; it can be sent to other processes.
        timed: what is timed before, of a large pool.
        kept: says in messages what becomes of what was finished.
        unit: word for what a bar counts.
        stop: returns whether no other part is begun.

    Raises:
        ChildProcessError: an OSError, if two processes die at the same part.
    """
    open_workers, slots = choose_workers(source.workers, source.scheduler)
    if len(pool) > MANY:
        print(_time(pool, timed, slots), file=sys.stderr, flush=True)
    parts = ((number,) for number in range(len(pool.parts)) if not stop())  # those before are under way already
    results = results_of(open_workers(), work, parts, lambda number: str(pool.parts[number].path), kept)
    with closing(results), tqdm(total=len(pool.parts), unit=f" parts of {unit}", disable=None, file=sys.stderr) as bar:
        for number, result in enumerate(results, start=1):
            bar.update()
            say(f"Part {number:,} of {len(pool.parts):,} of {unit} is scanned.")
            yield result


def _time(pool: PreparedPool, timed: Timed, slots: int) -> str:
    block = next(pool.blocks(columns=timed.columns))
    sample = block.take(range(0, len(block), max(1, len(block) // SAMPLE)))
    timed.work(sample.take(range(1)))  # compiles what is not compiled yet
    begin = time.perf_counter()
    timed.work(sample)
    seconds = (time.perf_counter() - begin) / len(sample) * len(pool)
    return timed.tell(len(pool), len(sample), duration(seconds / slots), slots)
