"""Play what is missing in parallel, and hand over each play as soon as it is finished."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

from graph_bandit_campaign.backtest.players import SIMILARITY
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
        tasks: what to play; the first one is that by which the time is estimated.
        seed: seed of the backtest.
        workers: processes; 0: one for each core; None: this process.
        on_done: takes each finished play, in this process.

    Raises:
        ChildProcessError: an OSError, if a process dies.
        ValueError: if a play fails.
    """
    if not tasks:
        return
    long = sum(task.player != SIMILARITY for task in tasks)  # that takes no time
    open_workers, count = choose_workers(workers, None)
    with TemporaryDirectory() as folder, tqdm(total=len(tasks), unit="play", disable=None, file=sys.stderr) as bar:
        path, warned, done = Path(folder, "table.pickle"), False, 0
        path.write_bytes(pickle.dumps(table))
        calls = ((path, task, seed) for task in tasks)
        plays = results_of(open_workers(), play_from_file, calls, lambda _, task, __: f"`{task.player}`", KEPT)
        with closing(plays):
            for task, finished in plays:
                on_done(task, finished)
                bar.update()
                done += 1
                say(f"{done} of {len(tasks)} plays are done.")
                if not warned and long > 1 and task.player != SIMILARITY:
                    warned = True
                    bar.write(estimate(finished.seconds, long - 1, count), file=sys.stderr)


def estimate(seconds: float, left: int, workers: int) -> str:
    """Say how long all plays may take, from the time of the first."""
    whole = seconds * left / min(workers, left)
    text = f"{whole:.0f} s" if whole < 100 else f"{whole / 60:.0f} min"
    return (
        f"The first play took {seconds:.0f} s. {left} like it are left: about {text} at this pace, with {workers} at a "
        "time. Ctrl-C keeps what is finished."
    )
