"""A cheap screen of many molecules before a dear assay of a few: what its classes save."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import registry
from agents.contract import SourceResults
from agents.molecule import MoleculeAgent
from benchmarks.pools.screening import Indices
from benchmarks.pools.study import Cells, Study, Table, interval, read_molecules
from graph_bandit_env import MoleculeSet

Player = Literal["dear", "screened", "list"]
Choose: TypeAlias = Callable[[Indices], Indices]
Classes: TypeAlias = NDArray[np.bool_]

START, BATCH, MOST = 60, 30, 360  # dear results: at random, in a round, in all
FIRST = 30  # upper molecules of the screen that are measured first
SCREENED, SHARE = 1000, 0.5  # molecules of a screen; at most half of them all
UPPER, WRONG = 0.2, 0.1  # share of molecules in the upper class, and of classes that are wrong
TOP = 0.05
PRICES = (10, 100)  # results of a screen for the price of a dear one
TREES, BITS = 500, 2048


@dataclass(frozen=True, kw_only=True)
class ScreensStudy(Study):
    """Look for the top 5 % of a pool by dear results, with and without a cheap screen of some molecules before.

    The screen tells of up to 1,000 random molecules whether a value is among the best 20 %, and is wrong for 10 %.
    """

    pools: tuple[str, ...] = ("TYK2", "USP7", "D2R", "Mpro")
    """Names of the pools."""
    players: tuple[Player, ...] = ("dear", "screened", "list")
    """dear: `molecule-ucb` from 60 random results; screened: the same agent, which has the classes of the screen as
    another assay, from 30 molecules of its upper class; list: a random forest learns the classes, and the molecules are
    measured in the order of its probabilities."""
    seeds: int = 5
    """Plays of each."""

    key = ("pool", "player", "seed")
    scores = ("seconds", "results", "screened", "found", "of")

    def tasks(self) -> Iterator[tuple[str, Player, int]]:
        """Yield every player and seed on every pool."""
        for pool in self.pools:
            yield from ((pool, player, seed) for seed in range(self.seeds) for player in self.players)

    def play(self, pool: str, player: Player, seed: int) -> Iterator[tuple[float, ...]]:
        """Measure a batch at a time, and count what is found of the top 5 % after each."""
        molecules, blank = _read(pool, self.data)
        values, generator = np.asarray(molecules.targets, np.float64), np.random.default_rng(seed)
        top = values >= np.sort(values)[-max(1, round(TOP * len(values)))]
        order = generator.permutation(len(values))
        screened = order[: min(SCREENED, round(SHARE * len(values)))]
        is_upper = values[screened] >= np.quantile(values, 1 - UPPER)
        is_upper ^= generator.random(len(screened)) < WRONG
        begin = time.perf_counter()
        if player == "list":
            ranked = _rank_by_forest(molecules, screened, is_upper, seed)
            measured, choose = ranked[:FIRST], _in_order(ranked)
        elif player == "screened":
            measured = screened[is_upper][:FIRST]
            choose = _by_agent(blank, molecules, (screened, is_upper), seed)
        else:
            measured, choose = order[:START], _by_agent(blank, molecules, None, seed)
        while True:
            cost = 0 if player == "dear" else len(screened)
            yield time.perf_counter() - begin, len(measured), cost, int(top[measured].sum()), int(top.sum())
            if len(measured) >= MOST:
                break
            measured = np.concatenate([measured, choose(measured)])

    def tables(self, rows: pd.DataFrame) -> Iterator[Table]:
        """Yield what is found for the price of 360 dear results, and what it costs to find as much as without screen.

        Costs are in dear results. A play that does not find as much with 360 of them counts with those and its screen.
        """
        for price in PRICES:
            rows["cost"] = rows["results"] + rows["screened"] / price
            cells: list[Cells] = [("pool", "player", "% of the top 5 %", "less dear", "cost of what dear finds")]
            ends = {
                name: play[play["cost"] <= MOST].iloc[-1] for name, play in rows.groupby(["pool", "player", "seed"])
            }
            for (pool, player), plays in rows.groupby(["pool", "player"], sort=False):
                shares, less, costs = [], [], []
                for seed, play in plays.groupby("seed"):
                    end, dear = ends[pool, player, seed], ends[pool, "dear", seed]
                    shares.append(100 * end["found"] / end["of"])
                    less.append(shares[-1] - 100 * dear["found"] / dear["of"])
                    enough = play[play["found"] >= dear["found"]]
                    costs.append((enough if len(enough) else play.iloc[-1:])["cost"].iloc[0])
                gains = "" if player == "dear" else interval(less, "+.1f")
                cells.append((str(pool), str(player), interval(shares), gains, interval(costs, ".0f")))
            yield Table(f"{price} results of the screen for one dear result, with 95 % intervals over plays", cells)


@lru_cache(maxsize=1)
def _read(pool: str, folder: Path) -> tuple[MoleculeSet, MoleculeAgent]:
    """Return molecules, and an agent that has read them."""
    molecules, agent = read_molecules(pool, folder), registry.make_agent("molecule-ucb")
    if not isinstance(agent, MoleculeAgent):
        raise TypeError(f"Expected an agent for molecules. Got {type(agent).__name__}.")
    agent.reset(None, graph_set=molecules)
    return molecules, agent


def _by_agent(
    blank: MoleculeAgent, molecules: MoleculeSet, screen: tuple[Indices, Classes] | None, seed: int
) -> Choose:
    """Return a function that chooses a batch, given what is measured."""
    agent, values, told = blank.blank(), np.asarray(molecules.targets, np.float64), [0]
    agent.reset(None, seed=seed, graph_set=molecules)
    if screen is not None:
        screened, is_upper = screen
        sides = np.where(is_upper, 1, -1)
        agent.learn_sources([SourceResults("screen", screened.tolist(), np.zeros(len(screened)), sides)])

    def choose(measured: Indices) -> Indices:
        new = measured[told[0] :]
        agent.update(None, new, values[new])
        told[0] = len(measured)
        count = min(BATCH, MOST - len(measured))
        return np.array(agent.select_batch(None, count, ~np.isin(np.arange(len(values)), measured)))

    return choose


def _rank_by_forest(molecules: MoleculeSet, screened: Indices, is_upper: Classes, seed: int) -> Indices:
    """Return all molecules by their probability to be in the upper class, as a forest has learnt it."""
    from rdkit import Chem
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from sklearn.ensemble import RandomForestClassifier

    generator = GetMorganGenerator(radius=2, fpSize=BITS)
    bits = np.stack([generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in molecules.smiles])
    forest = RandomForestClassifier(TREES, min_samples_leaf=2, random_state=seed).fit(bits[screened], is_upper)
    return np.argsort(-forest.predict_proba(bits)[:, 1], kind="stable")


def _in_order(ranked: Indices) -> Choose:
    """Return a function that chooses the next of a list."""
    return lambda measured: ranked[len(measured) : min(len(measured) + BATCH, MOST)]
