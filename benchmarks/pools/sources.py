"""The pools that are measured, and by what players are scored on them."""

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
DRAWN = 10_000  # of the docking scores
TOP = 100


class Source(Hashable, Protocol):
    """Where a pool comes from. It travels to workers, which read it there."""

    scores: ClassVar[tuple[str, ...]]
    """Names of what plays are scored by."""

    @property
    def name(self) -> str:
        """Return what sets it apart, as results are stored under it."""

    def read(self) -> Screen:
        """Read the pool."""

    def score(self, screen: Screen, order: Indices) -> tuple[float, ...]:
        """Return the scores of a play, in the order of their names."""


@dataclass(frozen=True)
class DockingScores:
    """10,000 molecules of `docking_pool.csv.gz`: 1 % at random, then five batches of 1 %.

    As MolPAL screens, with docking scores looked up [Graff et al. 2021]. The lowest scores are the best, and values
    their negatives.
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
        """Read and draw."""
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
    """The longest wavelength of `photoswitches.csv` [Griffiths et al. 2022]: 5 % at random, then one at a time."""

    folder: Path
    rounds: int
    """Measurements after the first."""
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
        """Read the molecules whose wavelength was measured."""
        table = pd.read_csv(self.folder / "photoswitches.csv").dropna(subset=[WAVELENGTH])
        molecules = from_smiles(list(table["SMILES"]), list(table[WAVELENGTH]))
        return Screen(molecules, molecules.targets, round(0.05 * len(molecules)), batch=1, rounds=self.rounds)

    def score(self, screen: Screen, order: Indices) -> tuple[float, ...]:
        """Return simple regret as the mean over the rounds and after the last, and cumulative regret."""
        simple = simple_regret(screen.values, order)[screen.start :]
        total = cumulative_regret(screen.values, order, screen.start)[-1]
        return float(simple.mean()), float(simple[-1]), float(total)
