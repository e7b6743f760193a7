"""The pools of the comparison, and the scores of players on them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np
import pandas as pd

from benchmarks.pools.screening import Indices, Screen, cumulative_regret, share_of_top, simple_regret
from graph_bandit_env import from_smiles

WAVELENGTH = "E isomer pi-pi* wavelength in nm"
DRAWN = 10_000  # molecules drawn from the docking pool
TOP = 100


class Source(Hashable, Protocol):
    """The source of a pool. It is sent to workers, which read the pool themselves."""

    scores: ClassVar[tuple[str, ...]]
    """Names of the scores of a play."""

    @property
    def name(self) -> str:
        """Return the unique name under which results are stored."""

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

    @property
    def name(self) -> str:
        """Return the name."""
        return f"docking, draw {self.draw}"

    def read(self) -> Screen:
        """Read the pool and draw the molecules."""
        table = pd.read_csv(self.folder / "docking_pool.csv.gz")
        drawn = table.iloc[np.random.default_rng(self.draw).choice(len(table), DRAWN, replace=False)]
        molecules = from_smiles(list(drawn["smiles"]), list(-drawn["score"]))
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
    scores: ClassVar[tuple[str, ...]] = (
        "mean simple regret (nm)",
        "last simple regret (nm)",
        "cumulative regret (nm)",
    )

    @property
    def name(self) -> str:
        """Return the name."""
        return f"photoswitches, {self.rounds} rounds"

    def read(self) -> Screen:
        """Read the molecules that have a measured wavelength."""
        table = pd.read_csv(self.folder / "photoswitches.csv").dropna(subset=[WAVELENGTH])
        molecules = from_smiles(list(table["SMILES"]), list(table[WAVELENGTH]))
        return Screen(molecules, molecules.targets, round(0.05 * len(molecules)), batch=1, rounds=self.rounds)

    def score(self, screen: Screen, order: Indices) -> tuple[float, ...]:
        """Return the mean simple regret over the rounds, the last simple regret, and the cumulative regret."""
        simple = simple_regret(screen.values, order)[screen.start :]
        total = cumulative_regret(screen.values, order, screen.start)[-1]
        return float(simple.mean()), float(simple[-1]), float(total)
