"""Replay a finished table: measure it a batch at a time, from a random start."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import registry
from agents.contract import Agent, one_thread
from graph_bandit_campaign.backtest.table import Table
from graph_bandit_env import GraphPool
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.episodes import choose

Indices: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Player: TypeAlias = Callable[[Indices, Floats, int], Sequence[int] | Indices]
"""A function that chooses the molecules to measure next. Its arguments are the measured molecules in order, their
values (or negative values, if small ones are good), and the number to choose. It returns that number of unmeasured
molecules."""
RANDOM = "random"


class Task(NamedTuple):
    """One play."""

    player: str
    """Name of the player: `RANDOM`, or an agent with its settings."""
    batch: int
    """Number of molecules in a batch."""
    start: int
    """Number of the random start, from 0."""


def agent_player(text: str, molecules: GraphPool, seed: int) -> Player:
    """Make a player from an agent, which gets each result once, and chooses batches.

    `suggest` retrains its agent in every round. Here the molecule- agents keep their kernel weights until the number of
    results has grown by a tenth (`refit_growth`), which takes a third of the time.
    """
    spec = AgentSpec.parse(text)
    agent: Agent = registry.make_agent(spec.name, **spec.settings)
    agent.reset(None, seed=seed, graph_set=molecules)
    known = 0

    def player(measured: Indices, rewards: Floats, count: int) -> Sequence[int]:
        nonlocal known
        agent.update(None, measured[known:], rewards[known:])
        known = len(measured)
        mask = np.ones(len(molecules), np.int8)
        mask[measured] = 0
        return choose(agent, None, mask, count)

    return player


def random_order(count: int, seed: int, start: int) -> NDArray[np.int64]:
    """Return all molecules in the order of a random start. Every player measures the first ones first.

    Args:
        count: K, number of molecules of the table.
        seed: seed of the backtest.
        start: number of the start.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(start, 0))).permutation(count)


def play(table: Table, task: Task, seed: int) -> Indices:
    """Replay a table, and return the molecules in the order of measurement, `(budget,)`.

    Args:
        table: the table.
        task: the player, and its start.
        seed: seed of the backtest. The result depends only on table, task and seed.
    """
    order = random_order(len(table.values), seed, task.start)
    if task.player == RANDOM:
        return order[: table.budget]
    order, rewards = order[: table.start], table.rewards
    digest = int.from_bytes(hashlib.sha256(f"{task.player}/{task.batch}".encode()).digest()[:4])
    of_player = int(np.random.SeedSequence(seed, spawn_key=(task.start, 1, digest)).generate_state(1)[0])
    with one_thread():
        player = agent_player(task.player, table.molecules, of_player)
        while len(order) < table.budget:
            chosen = player(order, rewards[order], min(task.batch, table.budget - len(order)))
            order = np.concatenate([order, np.asarray(chosen, np.int64)])
    return order


def play_admitted(table: Table, task: Task, seed: int) -> tuple[Task, Indices]:
    """Play in a worker process with an agent admitted by the driver, and return the task and the result."""
    AgentSpec.admit([task.player])
    return task, play(table, task, seed)
