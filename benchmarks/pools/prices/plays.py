"""Let an agent spend a budget on each pool, with and without a look at the prices; finished plays are kept."""

from __future__ import annotations

import copy
import time
import zlib
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import pandas as pd

import registry
from benchmarks.kept_rows import Row
from benchmarks.kept_tasks import do_missing
from benchmarks.pools.data.catalogue import find_pools
from benchmarks.pools.screening import Floats, Indices
from graph_bandit_campaign.constraints.batch import BatchConstraints
from graph_bandit_campaign.model import choose_batch
from graph_bandit_env import MoleculeSet
from graph_bandit_lab import AgentSpec

Drawn = Literal["any", "size"]
START, TOP, RATIO, BY_SIZE = 30, 0.05, 10, 0.7
SCORES = ("spent", "measured", "bought of the top 5 %", "% of the way")


class Task(NamedTuple):
    """An agent that spends money on a pool."""

    pool: str
    """Name of the pool."""
    drawn: Drawn
    """How prices are drawn: log-uniform from 1 to 10, of any molecule alike, or higher for large molecules."""
    agent: str
    budget: float
    """Money in a round. What is left at its end is lost."""
    rounds: int
    """How many rounds there are."""
    batch: int
    """Most molecules that are chosen at a time; the results come before the next are chosen."""
    weight: float
    """By how much the index falls if a price is e times as high. 0: the agent does not look at prices, and buys what it
    can pay for in the order of its own choice."""
    seed: int
    """Seed of the prices and of the first measurements, in separate streams."""


COLUMNS = (*Task._fields, "seconds", *SCORES)


class Blind:
    """An agent that does not look at prices, but stops buying what does not fit.

    Args:
        agent: an agent that weighs prices.
    """

    def __init__(self, agent: Any) -> None:
        self._agent, self.settings = agent, agent.settings
        for name in ("reset", "select_action", "update", "state_dict", "load_state_dict", "select_batch", "predict"):
            setattr(self, name, getattr(agent, name))

    def select_priced(self, observation: object, count: int, prices: Floats, *rest: Any) -> list[int]:
        """Choose as if all prices were equal."""
        chosen: list[int] = self._agent.select_priced(observation, count, np.ones_like(prices), *rest)
        return chosen


def play_all(
    folder: Path, tasks: Sequence[Task], workers: int = 1, out: Path | None = None
) -> tuple[pd.DataFrame, int]:
    """Play each task that is not in `out` yet.

    Args:
        folder: folder of the tables.
        tasks: what to play; neighbours in the list should have the same pool, which is read again otherwise.
        workers: how many processes to use.
        out: CSV file to which each row is appended at once; None: nothing is kept.

    Returns:
        A table with a row for each finished task (`COLUMNS`), and how many failed.

    Raises:
        ValueError: if an agent is unknown, or the file has other columns.
    """
    for name in dict.fromkeys(task.agent for task in tasks):
        _make(name)  # refuses unknown names before anything is played
    return do_missing(partial(play_one, folder), tasks, COLUMNS, len(Task._fields), workers, out)


def play_one(folder: Path, *entries: Any) -> list[Row]:
    """Play a task on one thread, and return its row alone."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    task = Task(*entries)
    molecules = _read_once(folder, task.pool)
    with threadpool_limits(1):
        begin = time.perf_counter()
        agent = copy.deepcopy(_reset_once(folder, task.pool, task.agent))
        spent, order = spend(agent, molecules, draw_prices(molecules, task.drawn, task.seed), task)
        seconds = time.perf_counter() - begin
    numbers = (seconds, spent, *score(molecules.targets, order))
    return [(*map(str, task), *(round(number, 3) for number in numbers))]


def spend(agent: Any, molecules: MoleculeSet, prices: Floats, task: Task) -> tuple[float, Indices]:
    """Measure molecules until the money of each round is spent, and return what was spent, and the order.

    The first `START` molecules are drawn at random, the same for every agent, and cost nothing.

    Args:
        agent: an agent that was reset with the molecules.
        molecules: K molecules.
        prices: `(K,)`.
        task: what to play.
    """
    values, size = molecules.targets, len(molecules)
    _, of_start = np.random.SeedSequence(task.seed).spawn(2)
    order = np.random.default_rng(of_start).choice(size, START, replace=False).astype(np.int64)
    agent.update(None, order, values[order])
    agent.rule.price_weight = task.weight
    chooser: Any = agent if task.weight else Blind(agent)
    for _ in range(task.rounds):
        money = task.budget
        while True:
            mask = prices <= money
            mask[order] = False
            if not mask.any():
                break
            constraints = BatchConstraints(prices=prices, budget=money)
            chosen = np.array(choose_batch(chooser, min(task.batch, int(mask.sum())), mask, (), constraints), np.int64)
            agent.update(None, chosen, values[chosen])
            order, money = np.concatenate([order, chosen]), money - float(prices[chosen].sum())
    return float(prices[order[START:]].sum()), order


def score(values: Floats, order: Indices) -> tuple[float, float, float]:
    """Return how many molecules were bought, how many of them are of the top 5 %, and how far the best one came.

    Args:
        values: `(K,)`, values of the pool.
        order: molecules measured, the random ones first.
    """
    bought, top = values[order[START:]], max(1, round(TOP * len(values)))
    first, last, best = values[order[:START]].max(), values[order].max(), values.max()
    way = 100 * (last - first) / (best - first) if first < best else 100.0
    return float(len(bought)), float((bought >= np.partition(values, -top)[-top]).sum()), float(way)


def draw_prices(molecules: MoleculeSet, drawn: Drawn, seed: int) -> Floats:
    """Draw prices whose logarithms are uniform, the highest 10 times as high as the lowest.

        p = 10^u,   u: ranks of 0.7 rank(size) + 0.3 rank of chance, or of chance alone, from 0 to 1

    Args:
        molecules: K molecules.
        drawn: "any" by chance alone, "size" by the number of atoms and by chance.
        seed: seed of the chance.
    """
    of_prices = np.random.SeedSequence(seed).spawn(1)[0]
    ranks = np.random.default_rng(of_prices).permutation(len(molecules)) / (len(molecules) - 1)
    if drawn == "size":
        by_atoms = np.array([graph.num_nodes for graph in molecules.to_pyg()]).argsort(kind="stable").argsort()
        mixed = BY_SIZE * by_atoms / (len(molecules) - 1) + (1 - BY_SIZE) * ranks
        ranks = mixed.argsort(kind="stable").argsort() / (len(molecules) - 1)
    return np.asarray(RATIO**ranks, np.float64)


def _make(text: str) -> Any:
    spec = AgentSpec.parse(text)
    return registry.make_agent(spec.name, **spec.settings)


@lru_cache(maxsize=1)
def _reset_once(folder: Path, pool: str, agent: str) -> Any:
    """Return an agent that has described the molecules, which takes longer than to play."""
    made = _make(agent)
    made.reset(None, seed=0, graph_set=_read_once(folder, pool))
    return made


@lru_cache(maxsize=1)
def _read_once(folder: Path, pool: str) -> MoleculeSet:
    molecules = cast(MoleculeSet, find_pools([pool])[0].read(folder))
    generator = np.random.default_rng(zlib.crc32(pool.encode()))
    return molecules.take(generator.permutation(len(molecules)))
