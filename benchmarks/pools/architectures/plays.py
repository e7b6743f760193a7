"""Search a table of networks one at a time, or predict all of it from some random results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

import registry
from agents.contract import Agent, BatchAgent
from benchmarks.kept_rows import Row
from benchmarks.pools.architectures.tree_parzen import TreeParzen
from benchmarks.pools.data.catalogue import find_pools
from benchmarks.pools.screening import Floats, Indices
from graph_bandit_env import GraphPool
from graph_bandit_lab import AgentSpec

Asked = Literal["found", "predicted"]
KEY = ("pool", "player", "asked", "seed", "after")
COLUMNS = (*KEY, "results", "found", "short", "correlation")
START = 10
"""Random results that come first, the same ones for every player of a seed."""
RANDOM, TPE = "random", "tpe"


def make_agent(player: str) -> Agent:
    """Make an agent by its name, with settings after a colon.

    Raises:
        ValueError: if the name or a setting is unknown.
    """
    spec = AgentSpec.parse(player)
    return registry.make_agent(spec.name, **spec.settings)


def measure(name: str, player: str, asked: Asked, seed: int, after: str, folder: Path) -> list[Row]:
    """Play or predict a pool on one thread.

    Args:
        name: name of the pool.
        player: "random", "tpe" or an agent.
        asked: "found": the best network found, and how far it falls short of the best of the pool; "predicted": the
            rank correlation of predictions and values over the whole pool.
        seed: seed of the random results and, in a separate stream, of the player.
        after: numbers of results after which this is asked.
        folder: folder of the tables.

    Returns:
        A row for each number of results.
    """
    torch.set_num_threads(1)
    (of_pool,) = find_pools([name])
    pool = of_pool.read(folder)
    numbers, key = [int(number) for number in after.split()], (name, player, asked, str(seed), after)
    with threadpool_limits(1):
        if asked == "predicted":
            correlations = predict(pool, player, seed, numbers)
            return [(*key, n, np.nan, np.nan, value) for n, value in zip(numbers, correlations, strict=True)]
        best = np.maximum.accumulate(pool.targets[search(pool, player, seed, max(numbers))])
    return [(*key, n, float(best[n - 1]), float(pool.targets.max() - best[n - 1]), np.nan) for n in numbers]


def search(pool: GraphPool, player: str, seed: int, count: int) -> Indices:
    """Measure `count` different networks, the first `START` of them at random; return them in their order."""
    of_start, of_player = np.random.SeedSequence(seed).spawn(2)
    order = np.random.default_rng(of_start).choice(len(pool), min(START, count), replace=False).tolist()
    choose = _make_player(player, pool, int(of_player.generate_state(1)[0]))
    given = 0
    while len(order) < count:
        new, given = order[given:], len(order)
        order.append(choose(np.array(new), pool.targets[new], np.setdiff1d(np.arange(len(pool)), order)))
    return np.array(order)


def predict(pool: GraphPool, player: str, seed: int, numbers: list[int]) -> Floats:
    """Return the rank correlation of predictions and values after some random results, told at once."""
    order = np.random.default_rng(seed).permutation(len(pool))
    correlations = []
    for number in numbers:
        agent = make_agent(player)
        if not isinstance(agent, BatchAgent):
            raise TypeError(f"Expected an agent that predicts. Got {player}.")
        agent.reset(None, seed=seed, graph_set=pool.without_targets())
        agent.update(None, order[:number], pool.targets[order[:number]])
        correlations.append(spearmanr(agent.predict().mean, pool.targets).statistic)
    return np.array(correlations)


def _make_player(player: str, pool: GraphPool, seed: int) -> Callable[[Indices, Floats, Indices], int]:
    """Return a function of new results (networks and values) and of the networks left, which chooses one of these."""
    generator = np.random.default_rng(seed)
    if player == RANDOM:
        return lambda new, values, left: int(generator.choice(left))
    if player == TPE:
        return TreeParzen(pool.ids, seed)
    agent = make_agent(player)
    agent.reset(None, seed=seed, graph_set=pool.without_targets())

    def choose(new: Indices, values: Floats, left: Indices) -> int:
        agent.update(None, new, values)
        mask = np.zeros(len(pool), np.int8)
        mask[left] = 1
        return agent.select_action(None, mask)

    return choose
