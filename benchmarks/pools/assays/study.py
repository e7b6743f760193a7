"""Let each player spend money on pairs of assays of the same molecules."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import pandas as pd
import torch
from scipy.special import ndtri
from scipy.stats import rankdata
from torch import Tensor

import registry
from agents.molecule import MoleculeAgent
from benchmarks.pools.assays.choices import RULES, spend_round
from benchmarks.pools.assays.linked import LinkedModel, Results
from benchmarks.pools.catalogue import Pool, find_pools
from benchmarks.pools.screening import Floats
from benchmarks.pools.study import Cells, Study, Table, interval, read_molecules
from graph_bandit_env import MoleculeSet

LARGEST, START, GIFT, ROUNDS, MONEY, PRICE, TOP, QUANTILE = 1000, 30, 200, 6, 1000.0, 100.0, 0.05, 0.8
PLAYERS = ("dear", "column", "gift", *RULES)


class Pair(NamedTuple):
    """Molecules with the results of two assays."""

    molecules: MoleculeSet
    """K molecules."""
    dear: Floats
    """`(K,)`. Large values are wanted."""
    cheap: Floats
    """`(K,)`. Large values go along with large ones of the dear assay."""


@dataclass(frozen=True, kw_only=True)
class AssaysStudy(Study):
    """Spend money on two assays of the same molecules, and count the best molecules that the dear one found.

    30 molecules are measured at random in the dear assay, where a result costs 100; then come six rounds with 1,000.
    """

    pairs: tuple[str, ...]
    """The dear and the cheap assay: names of two pools, `HLM-max:RLM-max`; or of a pool and the correlation of a
    simulated assay, `D2R:0.8`. Up to 1,000 molecules that have both results are played."""
    prices: tuple[float, ...] = (10.0,)
    """Prices of a cheap result."""
    players: tuple[str, ...] = PLAYERS
    """dear: `molecule-ucb`, dear results alone; variance and funnel: a model of both assays, and two rules that choose
    a molecule and its assay; gift: the same model with 200 cheap results at no cost, dear results alone; column:
    `molecule-ucb` with these 200 as a column of the molecules."""
    seeds: int = 10
    """Plays of each player on a pair, each from another random start."""

    key = ("pair", "price", "player", "seed")
    scores = ("seconds", "found of the top 5 %", "top 5 % to find", "dear results", "cheap results", "correlation")

    def __post_init__(self) -> None:
        super().__post_init__()
        for pair in self.pairs:
            find_pair(pair)
        if unknown := set(self.players) - {*PLAYERS}:
            raise ValueError(f"Unknown player `{unknown.pop()}`. There are {', '.join(PLAYERS)}.")
        if not all(0 < price <= 1000 / 30 for price in self.prices):
            raise ValueError(f"Expected prices above 0 and up to 33, since 30 results come first. Got {self.prices}.")

    def tasks(self) -> Iterator[tuple[str, float, str, int]]:
        """Yield every player and seed on every pair, at every price."""
        for pair in self.pairs:
            for price in self.prices:
                yield from ((pair, price, player, seed) for player in self.players for seed in range(self.seeds))

    def play(self, name: str, price: float, player: str, seed: int) -> Iterator[tuple[float, ...]]:
        """Spend the money, and count what was found."""
        pair, agent = read_pair(name, self.data), _describe(name, self.data)
        begin = time.perf_counter()
        dear, cheap = spend(pair, agent, player, price, seed)
        seconds, best = time.perf_counter() - begin, max(1, round(TOP * len(pair.dear)))
        top = pair.dear >= np.partition(pair.dear, -best)[-best]
        after, before = int(top[dear[START:]].sum()), int(top[dear[:START]].sum())
        together = np.corrcoef(rankdata(pair.dear), rankdata(pair.cheap))[0, 1]
        yield seconds, after, int(top.sum()) - before, len(dear) - START, len(cheap), float(together)

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield a row for each pair, price and player, with 95 % bootstrap intervals over starts.

        Differences are those of equal pairs and starts, since the player "dear" does not look at the price.
        """
        _, name, *others = self.scores
        index = ["pair", "price", "seed"]
        dear = rows[rows["player"] == "dear"].set_index(index)[name]
        bought = ("dear results", "cheap results", "plays")
        cells: list[Cells] = [("pair", "correlation", "price", "player", "found", "of", "less dear", *bought)]
        for (pair, price, player), some in rows.groupby(["pair", "price", "player"], sort=False):
            shares = some.set_index(index)[name]
            less = "" if player == "dear" else interval((shares - dear.reindex(shares.index)).dropna(), "+.1f")
            of, *counts, together = (f"{some[other].mean():.3g}" for other in others)
            cells.append(
                (str(pair), together, str(price), str(player), interval(shares), of, less, *counts, str(len(some)))
            )
        yield Table("Molecules of the top 5 % found for 6,000, with 95 % intervals over starts", cells)


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


def spend(pair: Pair, agent: MoleculeAgent, player: str, price: float, seed: int) -> tuple[list[int], list[int]]:
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
def _describe(pair: str, folder: Path) -> MoleculeAgent:
    """Return an agent that has described the molecules, which takes longer than to play."""
    agent = cast(MoleculeAgent, registry.make_agent("molecule-ucb"))
    agent.reset(None, seed=0, graph_set=read_pair(pair, folder).molecules)
    return agent


@lru_cache(maxsize=1)
def read_pair(name: str, folder: Path) -> Pair:
    """Return the molecules that have both results, at most `LARGEST` of them, drawn at random.

    A simulated cheap assay is r z + sqrt(1 - r^2) e, where z are the normal scores of the dear one.

    Args:
        name: name of the pair.
        folder: folder of the tables.
    """
    dear_pool, other = find_pair(name)
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    molecules = read_molecules(dear_pool.name, folder)
    molecules = molecules.take(generator.permutation(len(molecules)))
    if isinstance(other, Pool):
        second = read_molecules(other.name, folder)
        value_of = dict(zip(second.smiles, second.targets.tolist(), strict=True))
        both = np.array([k for k, smiles in enumerate(molecules.smiles) if smiles in value_of], np.int64)[:LARGEST]
        shared = molecules.take(both)
        cheap: Floats = np.array([value_of[smiles] for smiles in shared.smiles], np.float64)
    else:
        shared = molecules.take(np.arange(min(LARGEST, len(molecules))))
        scores = normal_scores(np.asarray(shared.targets, np.float64)).numpy()
        cheap = other * scores + math.sqrt(1 - other**2) * generator.standard_normal(len(scores))
    return Pair(shared, np.asarray(shared.targets, np.float64), cheap)
