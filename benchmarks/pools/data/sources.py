"""Pools as they are measured: how many molecules when, and the scores of what was chosen."""

from __future__ import annotations

import zlib
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np

from benchmarks.pools.data.catalogue import POOLS, Pool, docking_pool
from benchmarks.pools.screening import Floats, Indices, Screen, cumulative_regret, share_of_top, simple_regret
from graph_bandit_env import MoleculeSet

TOP = 100
SHARES = (1, 2, 5)  # percent of the pool that are its top


class Source(Hashable, Protocol):
    """The source of a pool. It is sent to workers, which read the pool themselves."""

    scores: ClassVar[tuple[str, ...]]
    """Names of the scores of a play."""

    @property
    def name(self) -> str:
        """Return the unique name under which results are stored."""

    @property
    def pool(self) -> Pool:
        """Return the pool."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the scores that have a table."""

    def read(self) -> Screen:
        """Read the pool."""

    def score(self, screen: Screen, order: Indices) -> tuple[float, ...]:
        """Return the scores of a play, in the order of their names."""


@dataclass(frozen=True)
class DockingScores:
    """10,000 molecules of `docking_pool.csv.gz`: 1 % at random, then five batches of 1 %.

    This is how MolPAL screens, with docking scores looked up [Graff et al. 2021]. The lowest scores are the best, so
    the values are their negatives.
    """

    folder: Path
    draw: int
    """Seed by which the 10,000 are drawn from all."""
    scores: ClassVar[tuple[str, ...]] = (f"% of the top {TOP}",)
    shown: ClassVar[tuple[str, ...]] = scores

    @property
    def name(self) -> str:
        """Return the name."""
        return f"docking, draw {self.draw}"

    @property
    def pool(self) -> Pool:
        """Return the pool."""
        return docking_pool(self.draw)

    def read(self) -> Screen:
        """Read the pool and draw the molecules."""
        molecules = read_molecules(self.pool, self.folder)
        batch = round(0.01 * len(molecules))
        return Screen(molecules, molecules.targets, start=batch, batch=batch, rounds=5)

    def score(self, screen: Screen, order: Indices) -> tuple[float, ...]:
        """Return the share of the 100 best scores that were found, in percent."""
        return (100 * share_of_top(screen.values, order, TOP),)


@dataclass(frozen=True)
class Photoswitches:
    """The molecules of `photoswitches.csv` [Griffiths et al. 2022]: 5 % at random, then one at a time.

    The best molecule is the one with the longest wavelength.
    """

    folder: Path
    rounds: int
    """Measurements after the random ones."""
    pool: ClassVar[Pool] = POOLS["photoswitches"]
    scores: ClassVar[tuple[str, ...]] = (
        "mean simple regret (nm)",
        "last simple regret (nm)",
        "cumulative regret (nm)",
    )
    shown: ClassVar[tuple[str, ...]] = scores

    @property
    def name(self) -> str:
        """Return the name."""
        return f"photoswitches, {self.rounds} rounds"

    def read(self) -> Screen:
        """Read the molecules that have a measured wavelength."""
        molecules = read_molecules(self.pool, self.folder)
        return Screen(molecules, molecules.targets, round(0.05 * len(molecules)), batch=1, rounds=self.rounds)

    def score(self, screen: Screen, order: Indices) -> tuple[float, ...]:
        """Return the mean simple regret over the rounds, the last simple regret, and the cumulative regret."""
        simple = simple_regret(screen.values, order)[screen.start :]
        total = cumulative_regret(screen.values, order, screen.start)[-1]
        return float(simple.mean()), float(simple[-1]), float(total)


@dataclass(frozen=True)
class Plan:
    """How pools of any size are measured."""

    start: int
    """How many molecules are measured first, at random."""
    batch: int
    """How many molecules are measured in a round."""
    rounds: int
    """How many rounds there are."""
    shown: tuple[str, ...]
    """The scores of `Replay.scores` that have a table."""
    pools: tuple[str, ...]
    """Names of the pools that are measured where none are named."""


@dataclass(frozen=True)
class Replay:
    """A pool of the catalogue, measured by a plan. Every play has the same scores, whatever the plan."""

    folder: Path
    pool: Pool
    plan: Plan
    scores: ClassVar[tuple[str, ...]] = (
        *(f"% of the top {share} %" for share in SHARES),
        "% of the way",
        "% optimum found",
        "mean simple regret (sd)",
    )

    @property
    def name(self) -> str:
        """Return the name, which has the numbers of the plan, so that another plan is played again."""
        return f"{self.pool.name}, {self.plan.start} + {self.plan.rounds} x {self.plan.batch}"

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the scores of the plan."""
        return self.plan.shown

    def read(self) -> Screen:
        """Read the molecules, in an order drawn by the name of the pool.

        Some tables are sorted by value, which a player that breaks ties by index would profit from. Pools of equal size
        do not start with the same rows either.
        """
        molecules = read_molecules(self.pool, self.folder)
        generator = np.random.default_rng(zlib.crc32(self.pool.molecules.encode()))
        shuffled = molecules.take(generator.permutation(len(molecules)))
        return Screen(shuffled, shuffled.targets, self.plan.start, self.plan.batch, self.plan.rounds)

    def score(self, screen: Screen, order: Indices) -> tuple[float, ...]:
        """Return the scores; tops are counted as in `share_of_top`, deviations are those of the whole pool."""
        values = screen.values
        short = simple_regret(values, order)[screen.start :]
        tops = (max(1, round(share * len(values) / 100)) for share in SHARES)
        return (
            *(100 * share_of_top(values, order, top) for top in tops),
            100 * share_of_way(values, order, screen.start),
            100.0 * bool(short[-1] == 0),
            float(short.mean() / values.std()),
        )


def share_of_way(values: Floats, order: Indices, start: int) -> float:
    """Return how much of the way from the best of the random measurements to the best of the pool was gone.

        (max_i y_i - max_{i <= start} y_i) / (max_k y_k - max_{i <= start} y_i),  and 1 if the start has the best

    Args:
        values: `(K,)`, values y of the pool.
        order: `(t,)`, molecules measured.
        start: how many random measurements come first.

    Returns:
        The share, from 0 to 1.
    """
    first, last = values[order[:start]].max(), values[order].max()
    return float((last - first) / (values.max() - first)) if first < values.max() else 1.0


PLANS = {
    "affinity": Plan(60, 30, 10, ("% of the top 2 %", "% of the top 5 %"), ("affinity",)),  # [Gorantla et al. 2024]
    "zinc": Plan(10, 5, 18, ("% of the way", "% of the top 1 %", "% optimum found"), ("zinc",)),
    "chembl": Plan(30, 20, 5, ("% of the top 5 %", "% of the way"), ("chembl",)),
    "sequential": Plan(
        10, 1, 40, ("% of the way", "% optimum found", "mean simple regret (sd)"), ("esol", "switches", "adme", "zinc")
    ),
}


def read_molecules(pool: Pool, folder: Path) -> MoleculeSet:
    """Read the molecules of a pool.

    Raises:
        ValueError: if it is a pool of other graphs.
    """
    molecules = pool.read(folder)
    if not isinstance(molecules, MoleculeSet):
        raise ValueError(f"Expected a pool of molecules. Got `{pool.name}`, which has {pool.kind}.")
    return molecules
