"""Play a finished table: measure it a batch at a time, from a random start; and play many times in parallel."""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from agents.contract import one_thread
from graph_bandit_campaign.backtest.players import agent_of, make_player
from graph_bandit_campaign.backtest.table import Table
from graph_bandit_campaign.workers import results_of, say
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.execution import choose_workers

RANDOM = "random"
KEPT = "Finished plays are kept: give the same command with fewer --workers."


class Task(NamedTuple):
    """One play."""

    player: str
    """Name of the player."""
    batch: int
    """How many molecules it chooses at a time."""
    start: int
    """Number of the random start, from 0."""


@dataclass(frozen=True, eq=False)
class Play:
    """What was measured, in its order."""

    order: NDArray[np.int64]
    """`(budget,)`, molecules in the order measured."""
    probabilities: NDArray[np.float64]
    """`(budget,)`, probability that the molecule beats the best so far, as told before; NaN where nothing was told."""


def random_order(count: int, seed: int, start: int) -> NDArray[np.int64]:
    """Return all molecules in the order of a random start: every player measures the first ones of it first.

    Args:
        count: K, molecules of the table.
        seed: seed of the backtest.
        start: number of the start.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(start, 0))).permutation(count)


def play(table: Table, task: Task, seed: int) -> Play:
    """Play a table; the result depends on table, task and seed alone.

    Args:
        table: the table.
        task: who plays, and from which start.
        seed: seed of the backtest.

    Raises:
        ValueError: if the player is an agent that cannot learn from the other assays.
    """
    order = random_order(len(table.values), seed, task.start)
    if task.player == RANDOM:
        return Play(order[: table.budget], np.full(table.budget, np.nan))
    order, rewards = order[: table.start], table.rewards
    probabilities = np.full(table.budget, np.nan)
    name = f"{agent_of(task.player)}/{task.batch}"  # with other assays and without, the random numbers are the same
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    of_player = np.random.SeedSequence(seed, spawn_key=(task.start, 1, digest))
    with one_thread():
        player = make_player(task.player, table.molecules, int(of_player.generate_state(1)[0]), table.sources)
        while len(order) < table.budget:
            count = min(task.batch, table.budget - len(order))
            picked, prediction = player(order, rewards[order], count)
            chosen = np.asarray(picked, np.int64)
            if len(chosen) != count or len({*chosen.tolist()} - {*order.tolist()}) != count:
                raise ValueError(f"Expected {count} new molecules of `{task.player}`. Got {chosen.tolist()}.")
            if prediction is not None:
                best = float(rewards[order].max())
                probabilities[len(order) : len(order) + count] = prediction.probability_above(best)[chosen]
            order = np.concatenate([order, chosen])
    return Play(order, probabilities)


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
        plays = results_of(open_workers(), _play_from_file, calls, lambda _, task, __: f"`{task.player}`", KEPT)
        with closing(plays):
            for done, (task, finished) in enumerate(plays, start=1):
                on_done(task, finished)
                bar.update()
                say(f"{done} of {len(tasks)} plays are done.")


def _play_from_file(path: Path, task: Task, seed: int) -> tuple[Task, Play]:
    """Play the table that is pickled in a file; return the task, too. The driver has admitted its agent."""
    AgentSpec.admit([agent_of(task.player)])
    return task, play(_read(path), task, seed)


@lru_cache(maxsize=1)
def _read(path: Path) -> Table:
    table: Table = pickle.loads(path.read_bytes())  # noqa: S301 - the driver wrote it to its own temporary folder
    return table
