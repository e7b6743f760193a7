"""Play what is missing in parallel, and hand over each play as soon as it is finished."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

from graph_bandit_campaign.backtest.plays import Play, Task, play_from_file
from graph_bandit_campaign.backtest.table import Table
from graph_bandit_campaign.workers import results_of, say
from graph_bandit_lab.execution import choose_workers

KEPT = "Finished plays are kept: give the same command with fewer --workers."


def play_tasks(
    table: Table, tasks: Sequence[Task], seed: int, workers: int | None, on_done: Callable[[Task, Play], object]
) -> None:
    """Play tasks; their results do not depend on the number of workers.

    Args:
        table: the table.
        tasks: what to play.
        seed: seed of the backtest.
        workers: processes; 0: one for each core; None: this process.
        on_done: takes each finished play, in this process.

    Raises:
        ChildProcessError: an OSError, if a process dies.
        ValueError: if a play fails.
    """
    if not tasks:
        return
    open_workers, _ = choose_workers(workers, None)
    with TemporaryDirectory() as folder, tqdm(total=len(tasks), unit="play", disable=None, file=sys.stderr) as bar:
        path = Path(folder, "table.pickle")
        path.write_bytes(pickle.dumps(table))
        calls = ((path, task, seed) for task in tasks)
        plays = results_of(open_workers(), play_from_file, calls, lambda _, task, __: f"`{task.player}`", KEPT)
        with closing(plays):
            for done, (task, finished) in enumerate(plays, start=1):
                on_done(task, finished)
                bar.update()
                say(f"{done} of {len(tasks)} plays are done.")
