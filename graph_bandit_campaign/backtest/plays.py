"""Play a finished table once: measure it a batch at a time, from one random start."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.contract import one_thread
from graph_bandit_campaign.backtest.players import agent_of, make_player
from graph_bandit_campaign.backtest.table import Table
from graph_bandit_lab import AgentSpec

RANDOM = "random"


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
    player = make_player(task.player, table.sources)
    with one_thread():
        player.begin(table.molecules, int(of_player.generate_state(1)[0]))
        while len(order) < table.budget:
            count = min(task.batch, table.budget - len(order))
            chosen = np.asarray(player.choose(order, rewards[order], count), np.int64)
            if len(chosen) != count or len({*chosen.tolist()} - {*order.tolist()}) != count:
                raise ValueError(f"Expected {count} new molecules of `{task.player}`. Got {chosen.tolist()}.")
            prediction = player.forecast() if np.ptp(rewards[order]) > 0 else None  # `suggest` is silent then, too
            if prediction is not None:
                best = float(rewards[order].max())
                probabilities[len(order) : len(order) + count] = prediction.probability_above(best)[chosen]
            order = np.concatenate([order, chosen])
    return Play(order, probabilities)


def play_from_file(path: Path, task: Task, seed: int) -> tuple[Task, Play]:
    """Play the table that is pickled in a file, which each process reads once; return the task, too.

    The task is of the driver, which has admitted its agent.
    """
    AgentSpec.admit([agent_of(task.player)])
    return task, play(_read(path), task, seed)


@lru_cache(maxsize=1)
def _read(path: Path) -> Table:
    table: Table = pickle.loads(path.read_bytes())  # noqa: S301 - the driver wrote it to its own temporary folder
    return table
