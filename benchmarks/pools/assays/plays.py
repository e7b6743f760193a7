"""Let each player spend money on pairs of assays; finished plays are kept."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata
from torch import Tensor

import registry
from agents.molecule import MoleculeAgent
from benchmarks.kept_rows import Row
from benchmarks.kept_tasks import do_missing
from benchmarks.pools.assays.choices import RULES, spend_round
from benchmarks.pools.data.catalogue import Pool, find_pools
from benchmarks.pools.data.sources import read_molecules
from benchmarks.pools.models.linked import LinkedModel, Results
from benchmarks.pools.screening import Floats
from graph_bandit_env import MoleculeSet

LARGEST, START, GIFT, ROUNDS, MONEY, PRICE, TOP, QUANTILE = 1000, 30, 200, 6, 1000.0, 100.0, 0.05, 0.8
PLAYERS = ("dear", "column", "gift", *RULES)
SCORES = ("found of the top 5 %", "top 5 % to find", "dear results", "cheap results", "correlation")


class Task(NamedTuple):
    """A player that spends money on two assays of the same molecules."""

    pair: str
    """The dear pool and the cheap one, joined by a colon; or the dear one and a correlation, `D2R:0.8`."""
    price: float
    """Price of a cheap result, where a dear one costs 100."""
    player: str
    """One of `PLAYERS`; see `play`."""
    seed: int
    """Seed of the first measurements."""


COLUMNS = (*Task._fields, "seconds", *SCORES)


class Pair(NamedTuple):
    """Molecules with the results of two assays."""

    molecules: MoleculeSet
    """K molecules."""
    dear: Floats
    """`(K,)`. Large values are wanted."""
    cheap: Floats
    """`(K,)`. Large values go along with large ones of the dear assay."""


def play_all(folder: Path, tasks: Sequence[Task], workers: int, out: Path | None) -> tuple[pd.DataFrame, int]:
    """Play each task that is not in `out` yet.

    Args:
        folder: folder of the tables.
        tasks: what to play; neighbours in the list should have the same pair, which is read again otherwise.
        workers: how many processes to use.
        out: CSV file to which each row is appended at once; None: nothing is kept.

    Returns:
        A row for each finished task (`COLUMNS`), and how many failed.

    Raises:
        ValueError: if a pair or player is unknown, or the file has other columns.
    """
    for task in tasks:
        find_pair(task.pair)
        if task.player not in PLAYERS:
            raise ValueError(f"Unknown player `{task.player}`. There are {', '.join(PLAYERS)}.")
    return do_missing(partial(play_one, folder), tasks, COLUMNS, len(Task._fields), workers, out)


def find_pair(name: str) -> tuple[Pool, Pool | float]:
    """Return the pool of the dear assay, and that of the cheap one or the correlation of a simulated one.

    Raises:
        ValueError: if there are not two parts, a pool is unknown, or the correlation is not from 0 to 1.
    """
    dear, _, cheap = name.partition(":")
    simulated = cheap.replace(".", "", 1).isdecimal()
    pools = [*find_pools([dear]), *(() if simulated or not cheap else find_pools([cheap]))]
    if len(pools) != (1 if simulated else 2) or (simulated and not 0 <= float(cheap) <= 1):
        raise ValueError(f"Expected two pools, `HLM:RLM`, or one and a correlation from 0 to 1. Got `{name}`.")
    return pools[0], float(cheap) if simulated else pools[1]


def play_one(folder: Path, *entries: object) -> list[Row]:
    """Play a task on one thread, and return its row alone."""
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    task = Task(*entries)  # type: ignore[arg-type]
    pair = read_pair(folder, task.pair)
    agent = _describe(folder, task.pair)
    with threadpool_limits(1):
        begin = time.perf_counter()
        dear, cheap = play(pair, agent, task.player, task.price, task.seed)
        seconds = round(time.perf_counter() - begin, 1)
    level = np.partition(pair.dear, -max(1, round(TOP * len(pair.dear))))[-max(1, round(TOP * len(pair.dear)))]
    top = pair.dear >= level
    found, before = float(top[dear[START:]].sum()), float(top[dear[:START]].sum())
    together = np.corrcoef(rankdata(pair.dear), rankdata(pair.cheap))[0, 1]
    numbers = (seconds, found, float(top.sum()) - before, len(dear) - START, len(cheap), round(float(together), 3))
    return [(*map(str, task), *numbers)]


def play(pair: Pair, agent: MoleculeAgent, player: str, price: float, seed: int) -> tuple[list[int], list[int]]:
    """Spend the money of `ROUNDS` rounds, and return the molecules with a dear result, and those with a cheap one.

    All players know the dear results of the same molecules, drawn at random. "dear" is `molecule-ucb`, and buys dear
    results alone. "variance" and "funnel" also have the cheap results of these molecules, for which they pay in the
    first round, and then buy by their rule.

    Two players are given cheap results of other molecules at random, too, at no cost, and buy dear results alone.
    "gift" has the model of both assays; "column" is `molecule-ucb` with the cheap results as a column of its own.

    Args:
        pair: molecules with their results.
        agent: `molecule-ucb`, reset with the molecules.
        player: one of `PLAYERS`.
        price: of a cheap result.
        seed: seed of the draw.
    """
    size = len(pair.dear)
    drawn = np.random.default_rng(seed).permutation(size).tolist()
    dear: list[int] = drawn[:START]
    if player == "dear":
        return _play_agent(agent, pair.molecules, pair.dear, dear), []
    cheap = drawn[: START + GIFT] if player in ("gift", "column") else dear[:]
    if player == "column":
        informed = with_column(pair.molecules, pair.cheap, cheap)
        return _play_agent(agent, informed, pair.dear, dear), cheap
    owed = 0.0 if player == "gift" else price * len(cheap)
    kernels = agent.posterior.kernel.kernels  # type: ignore[attr-defined]
    every = torch.arange(size)
    stacked = torch.stack([kernel.columns(every, every) for kernel in kernels])
    model = LinkedModel(stacked, agent.posterior.kernel.weights)  # type: ignore[attr-defined]
    prices = PRICE, math.inf if player == "gift" else price
    for _ in range(ROUNDS):
        values = torch.cat([normal_scores(pair.dear[dear]), normal_scores(pair.cheap[cheap])])
        of_cheap = torch.arange(len(values)) >= len(dear)
        model.fit(Results(torch.tensor([*dear, *cheap]), of_cheap, values))
        rule = RULES["variance" if player == "gift" else player]
        more = spend_round(model, rule, _mask(size, dear), _mask(size, cheap), prices, MONEY - owed, QUANTILE)
        dear, cheap, owed = [*dear, *more[0]], [*cheap, *more[1]], 0.0
    return dear, cheap


def with_column(molecules: MoleculeSet, values: Floats, known: Sequence[int]) -> MoleculeSet:
    """Return the molecules with a column of values, of which only some are known."""
    column = np.full((len(values), 1), np.nan)
    column[known, 0] = values[known]
    features = molecules.ids, molecules.targets, molecules.features
    return MoleculeSet(molecules, molecules.smiles, *features, columns=column, column_names=["cheap"])


def _play_agent(agent: MoleculeAgent, molecules: MoleculeSet, values: Floats, start: list[int]) -> list[int]:
    """Let an agent spend all money on dear results, and return the molecules in order."""
    player, order = agent.blank(), start[:]
    player.reset(None, seed=0, graph_set=molecules)
    player.update(None, order, values[order])
    for _ in range(ROUNDS):
        mask = np.ones(len(values), np.bool_)
        mask[order] = False
        chosen = player.select_batch(None, int(MONEY / PRICE), mask)
        player.update(None, chosen, values[chosen])
        order = [*order, *chosen]
    return order


def normal_scores(values: Floats) -> Tensor:
    """Replace the i-th smallest of n values by Phi^{-1}((i - 1/2) / n)."""
    return torch.from_numpy(ndtri((rankdata(values) - 0.5) / len(values)))


def _mask(size: int, places: list[int]) -> Tensor:
    mask = torch.zeros(size, dtype=torch.bool)
    mask[places] = True
    return mask


@lru_cache(maxsize=1)
def _describe(folder: Path, pair: str) -> MoleculeAgent:
    """Return an agent that has described the molecules, which takes longer than to play."""
    agent = cast(MoleculeAgent, registry.make_agent("molecule-ucb"))
    agent.reset(None, seed=0, graph_set=read_pair(folder, pair).molecules)
    return agent


@lru_cache(maxsize=1)
def read_pair(folder: Path, name: str) -> Pair:
    """Return the molecules that have both results, at most `LARGEST` of them, drawn at random.

    A simulated cheap assay is r z + sqrt(1 - r^2) e, where z are the normal scores of the dear one.

    Args:
        folder: folder of the tables.
        name: name of the pair.
    """
    dear_pool, other = find_pair(name)
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    molecules = read_molecules(dear_pool, folder)
    molecules = molecules.take(generator.permutation(len(molecules)))
    if isinstance(other, Pool):
        second = read_molecules(other, folder)
        known = dict(zip(second.smiles, second.targets.tolist(), strict=True))
        both = np.array([k for k, smiles in enumerate(molecules.smiles) if smiles in known], np.int64)[:LARGEST]
        shared = molecules.take(both)
        cheap: NDArray[np.float64] = np.array([known[smiles] for smiles in shared.smiles], np.float64)
    else:
        shared = molecules.take(np.arange(min(LARGEST, len(molecules))))
        scores = normal_scores(np.asarray(shared.targets, np.float64)).numpy()
        cheap = other * scores + math.sqrt(1 - other**2) * generator.standard_normal(len(scores))
    return Pair(shared, np.asarray(shared.targets, np.float64), cheap)
