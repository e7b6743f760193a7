"""Play the tasks of a study in parallel, keep what is finished, and print tables with intervals."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from benchmarks.pools.catalogue import find_pools
from graph_bandit_env import GraphPool
from graph_bandit_lab.analysis import bootstrap_interval
from graph_bandit_lab.execution import Processes, run_in_parallel
from graph_bandit_lab.reports import print_columns

Cells: TypeAlias = tuple[str, ...]


class Table(NamedTuple):
    """A table as it is printed."""

    title: str
    """Its contents, and what its intervals are over."""
    rows: list[Cells]
    """Header and rows."""


@dataclass(frozen=True, kw_only=True)
class Study(ABC):
    """Settings that all studies have. Whole numbers are at least 1, and nothing is named twice."""

    data: Path
    """Folder of the tables."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of what is finished; it is not done again, even if the code has changed."""
    markdown: bool = False
    """Print the tables in Markdown."""

    key: ClassVar[Cells]
    """Columns that name a task."""
    scores: ClassVar[Cells]
    """Columns of numbers that a task gives."""

    def __post_init__(self) -> None:
        for name, value in ((field.name, getattr(self, field.name)) for field in fields(self)):
            if isinstance(value, int) and not isinstance(value, bool) and value < 1:
                raise ValueError(f"Expected `{name}` of at least 1. Got {value}.")
            if isinstance(value, tuple) and (not value or len(set(value)) < len(value)):
                raise ValueError(f"Expected `{name}`, each once. Got {value}.")

    @abstractmethod
    def tasks(self) -> Iterable[tuple[Any, ...]]:
        """Return the entries of `key` of each task; neighbours should have the same pool, which is read once then."""

    @abstractmethod
    def play(self, *task: Any) -> Iterable[Sequence[float]]:
        """Do a task, and return rows of `scores`; none, if the pool is too small for it."""

    @abstractmethod
    def tables(self, rows: pd.DataFrame) -> Iterable[Table]:
        """Return the tables of all rows, whose columns are `key`, as text, and `scores`."""

    def run(self) -> bool:
        """Do what is not finished, print the tables, and return whether all tasks were finished."""
        rows, failed = self.do_missing()
        if rows.empty:
            raise ValueError("Expected a task that was finished. Got none.")
        for table in self.tables(rows):
            print(f"\n{table.title}\n")
            print_columns(table.rows, markdown=self.markdown)
        return not failed

    def do_missing(self) -> tuple[pd.DataFrame, int]:
        """Do each task that has no rows in `out` yet, and append its rows; return all rows, and how many tasks failed.

        Raises:
            ValueError: if the file has other columns.
        """
        key, columns = list(self.key), [*self.key, *self.scores]
        tasks = {tuple(map(str, task)): task for task in self.tasks()}
        kept = pd.DataFrame(columns=columns)
        if self.out is not None and self.out.is_file():
            kept = pd.read_csv(self.out, dtype=dict.fromkeys(key, str))
            if list(kept) != columns:
                raise ValueError(f"Expected {self.out} to have the columns {', '.join(columns)}.")
            kept = kept[[row in tasks for row in kept[key].itertuples(index=False, name=None)]]
        done, tables, failed = set(kept[key].itertuples(index=False, name=None)), [kept], 0
        missing = [task for row, task in tasks.items() if row not in done]
        with closing(run_in_parallel(self.play_alone, missing, Processes(self.workers))) as outcomes:
            for task, outcome in outcomes:
                if isinstance(outcome, Exception):
                    failed += 1
                    print(f"{task} failed: {type(outcome).__name__}: {outcome}", file=sys.stderr)
                    continue
                tables.append(pd.DataFrame(outcome, columns=columns))
                if self.out is not None:
                    tables[-1].to_csv(self.out, mode="a", header=not self.out.is_file(), index=False)
                print(f"{task}: {len(outcome)} rows", file=sys.stderr)
        rows = pd.concat([table for table in tables if len(table)] or tables)
        return rows.reset_index(drop=True), failed

    def play_alone(self, *task: Any) -> list[tuple[str | float, ...]]:
        """Do a task on one thread, and return its rows with its key, as they are kept."""
        import torch
        from threadpoolctl import threadpool_limits

        torch.set_num_threads(1)
        with threadpool_limits(1):
            return [(*map(str, task), *(float(f"{number:.6g}") for number in row)) for row in self.play(*task)]


@lru_cache(maxsize=2)
def read_pool(name: str, folder: Path) -> GraphPool:
    """Read a pool by its name; the last two are kept."""
    (pool,) = find_pools([name])
    return pool.read(folder)


def interval(values: ArrayLike, form: str = ".1f") -> str:
    """Return a mean with its 95 % bootstrap interval, or nothing if there are no values."""
    numbers: NDArray[np.float64] = np.asarray(values, np.float64)
    if not len(numbers):
        return ""
    low, high = bootstrap_interval(numbers)
    return f"{numbers.mean():{form}} [{low:{form}}, {high:{form}}]"


def interval_over_pools(values: pd.Series[float], form: str = ".1f") -> str:
    """Return the mean of the means of pools, with its interval over pools; of one pool, with that over its plays.

    A pool that is drawn comes with all its plays, since plays of a pool resemble each other.

    Args:
        values: numbers, with a level `pool` in their index.
        form: format of the numbers.
    """
    by_pool = values.groupby(level="pool", sort=False).mean()
    return interval(by_pool if len(by_pool) > 1 else values, form)


def over_pools(rows: pd.DataFrame) -> str:
    """Return what intervals are over."""
    count = rows["pool"].nunique()
    return f"{count} pools, with 95 % intervals over pools" if count > 1 else "1 pool, with 95 % intervals over plays"
