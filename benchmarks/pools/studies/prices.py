"""Spend money on pools with and without a look at the prices, which differ by a factor of ten."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

import registry
from benchmarks.pools.catalogue import find_pools
from benchmarks.pools.screening import Floats, Indices, share_of_way
from benchmarks.pools.studies.replay import read_shuffled
from benchmarks.pools.study import Cells, Study, Table, interval_over_pools, over_pools
from graph_bandit_campaign.constraints.batch import BatchConstraints
from graph_bandit_campaign.model import choose_batch
from graph_bandit_env import MoleculeSet

Drawn = Literal["any", "size"]
START, TOP, RATIO, BY_SIZE = 30, 0.05, 10, 0.7
BOUGHT, WAY = "bought of the top 5 %", "% of the way"


class Terms(NamedTuple):
    """How money is spent."""

    budget: float
    """Money in a round, where the lowest price is 1 and the highest 10. What is left at its end is lost."""
    rounds: int
    """How many rounds there are."""
    batch: int
    """Most molecules that are chosen at a time; the results come before the next are chosen."""
    weight: float
    """By how much the index falls if a price is e times as high. 0: the agent does not look at prices, and buys what it
    can pay for in the order of its own choice."""


@dataclass(frozen=True, kw_only=True)
class PricesStudy(Study):
    """Spend money on pools with and without a look at the prices, which differ by a factor of ten."""

    pools: tuple[str, ...]
    """Names of pools and groups, as those of `replay`."""
    agent: str = "molecule-ucb"
    """Agent that weighs prices, by its name."""
    drawn: tuple[Drawn, ...] = ("any", "size")
    """Prices of any molecule alike, and prices that are higher for large molecules."""
    budget: float = 80
    """Money in a round, where the lowest price is 1 and the highest 10."""
    shares: tuple[float, ...] = (1.0, 0.8, 0.6)
    """Shares of the budget for agents that weigh prices; the others get all of it."""
    weights: tuple[float, ...] = (0.5,)
    """By how much the index falls if a price is e times as high. 0.5 is that of molecule-ucb, 1 that of molecule-ei."""
    rounds: int = 5
    """How many rounds there are."""
    batch: int = 96
    """Most molecules that are chosen at a time."""
    seeds: int = 10
    """Plays on each pool, each with other prices and another random start."""
    by_pool: bool = False
    """Print a row for each pool, too."""

    key = ("pool", "drawn", "agent", "seed", *Terms._fields)
    scores = ("spent", "measured", BOUGHT, WAY)

    def __post_init__(self) -> None:
        super().__post_init__()
        registry.make_agent(self.agent)  # refuses unknown names before anything is played

    def tasks(self) -> Iterator[tuple[Any, ...]]:
        """Yield, for each pool and start, a play without a look at the prices, and those with one."""
        budgets = [float(round(share * self.budget, 6)) for share in self.shares]
        looking = [(budget, weight) for weight in self.weights for budget in budgets]
        for pool in find_pools(self.pools):
            for seed in range(self.seeds):
                for drawn in self.drawn:
                    for budget, weight in ((float(self.budget), 0.0), *looking):
                        terms = Terms(budget, self.rounds, self.batch, weight)
                        yield pool.name, drawn, self.agent, seed, *terms

    def play(self, name: str, drawn: Drawn, agent: str, seed: int, *terms: Any) -> Iterator[tuple[float, ...]]:
        """Spend the money of all rounds."""
        molecules, player = read_shuffled(name, self.data), copy.deepcopy(_reset(agent, name, self.data))
        prices = draw_prices(molecules, drawn, seed)
        order = spend(player, molecules, prices, Terms(*terms), seed)
        yield float(prices[order[START:]].sum()), *score(molecules.targets, order)

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield a table over pools, and on request one with a row for each pool.

        Differences are those of equal pools, prices and starts, from the agent that does not look at prices.
        """
        case = ["drawn", "weight", "budget"]
        compared = (text for name in (BOUGHT, WAY) for text in (name, "less without prices"))
        header, blind = (*case, *compared, "spent", "measured", "plays"), rows[rows["weight"] == "0.0"]
        cells = [(*map(str, key), *_row(plays, blind)) for key, plays in rows.groupby(case, sort=False)]
        yield Table(f"Money on {over_pools(rows)}", [header, *cells])
        if self.by_pool:
            alone = [(*map(str, key), *_row(some, blind)) for key, some in rows.groupby(["pool", *case], sort=False)]
            yield Table("By pool, with 95 % intervals over starts", [("pool", *header), *alone])


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


def spend(agent: Any, molecules: MoleculeSet, prices: Floats, terms: Terms, seed: int) -> Indices:
    """Measure molecules until the money of each round is spent, and return them in order.

    The first `START` molecules are drawn at random, the same for every agent, and cost nothing.

    Args:
        agent: an agent that was reset with the molecules.
        molecules: K molecules.
        prices: `(K,)`.
        terms: how money is spent.
        seed: seed of the first molecules.
    """
    values, size = molecules.targets, len(molecules)
    _, of_start = np.random.SeedSequence(seed).spawn(2)
    order = np.random.default_rng(of_start).choice(size, START, replace=False).astype(np.int64)
    agent.update(None, order, values[order])
    agent.rule.price_weight = terms.weight
    chooser: Any = agent if terms.weight else Blind(agent)
    for _ in range(terms.rounds):
        money = terms.budget
        while True:
            mask = prices <= money
            mask[order] = False
            if not mask.any():
                break
            constraints = BatchConstraints(prices=prices, budget=money)
            chosen = np.array(choose_batch(chooser, min(terms.batch, int(mask.sum())), mask, (), constraints), np.int64)
            agent.update(None, chosen, values[chosen])
            order, money = np.concatenate([order, chosen]), money - float(prices[chosen].sum())
    return order


def score(values: Floats, order: Indices) -> tuple[float, float, float]:
    """Return how many molecules were bought, how many of them are of the top 5 %, and how far the best one came.

    Args:
        values: `(K,)`, values of the pool.
        order: molecules measured, the random ones first.
    """
    bought, top = values[order[START:]], max(1, round(TOP * len(values)))
    good = float((bought >= np.partition(values, -top)[-top]).sum())
    return float(len(bought)), good, 100 * share_of_way(values, order, START)


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


def _row(plays: pd.DataFrame, blind: pd.DataFrame) -> Cells:
    own, other = (part.set_index(["pool", "drawn", "seed"]) for part in (plays, blind))
    looks = (plays["weight"] != "0.0").all()
    cells = []
    for name in (BOUGHT, WAY):
        less = interval_over_pools(own[name].sub(other[name]).dropna(), "+.1f") if looks else ""
        cells += [interval_over_pools(own[name]), less]
    return *cells, f"{own['spent'].mean():.1f}", f"{own['measured'].mean():.1f}", str(len(own))


@lru_cache(maxsize=1)
def _reset(agent: str, pool: str, folder: Path) -> Any:
    """Return an agent that has described the molecules, which takes longer than to play."""
    made = registry.make_agent(agent)
    made.reset(None, seed=0, graph_set=read_shuffled(pool, folder))
    return made
