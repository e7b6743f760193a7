"""Do tasks that each give rows of a table, in parallel, and keep the rows of finished ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.kept_rows import Row, append_rows, read_rows
from graph_bandit_lab.execution import Processes, run_in_parallel


def do_missing(
    function: Callable[..., list[Row]],
    tasks: Sequence[tuple[Any, ...]],
    columns: Sequence[str],
    key: int,
    workers: int,
    out: Path | None,
) -> tuple[pd.DataFrame, int]:
    """Do each task that has no rows in `out` yet.

    Args:
        function: called with the entries of a task; it must be picklable. It returns the rows of the task, whose first
            cells are the first entries of the task as text. A task without rows is done again the next time.
        tasks: what to do.
        columns: names of the columns; those after the key are numbers.
        key: how many of the first columns name a task.
        workers: how many processes to use.
        out: CSV file to which the rows of each finished task are appended at once; None: nothing is kept.

    Returns:
        The rows of the tasks, and how many tasks failed.

    Raises:
        ValueError: if the file has other columns.
    """
    kept = [] if out is None else read_rows(out, columns)
    rows: list[Row] = [(*row[:key], *map(float, row[key:])) for row in kept]
    done = {row[:key] for row in rows}
    missing = [task for task in tasks if _key_of(task, key) not in done]
    failed = 0
    with closing(run_in_parallel(function, missing, Processes(workers))) as outcomes:
        for task, outcome in outcomes:
            name = ", ".join(_key_of(task, key))
            if isinstance(outcome, Exception):
                failed += 1
                print(f"{name} failed: {type(outcome).__name__}: {outcome}", file=sys.stderr)
                continue
            rows += outcome
            if out is not None:
                append_rows(out, columns, outcome)
            print(f"{name}: {len(outcome)} rows", file=sys.stderr)
    asked = {_key_of(task, key) for task in tasks}
    return pd.DataFrame([row for row in rows if row[:key] in asked], columns=list(columns)), failed


def _key_of(task: tuple[Any, ...], key: int) -> tuple[str, ...]:
    return tuple(map(str, task[:key]))
