"""The command `assays` of `python -m benchmarks.pools`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.pools.assays.plays import PLAYERS, Task, play_all
from benchmarks.pools.assays.tables import tables
from benchmarks.pools.summary import show


@dataclass(frozen=True, kw_only=True)
class AssaysCommand:
    """Spend money on two assays of the same molecules, and count the best molecules that the dear one found.

    30 molecules are measured at random in the dear assay, where a result costs 100; then come six rounds with 1,000.
    """

    data: Path
    """Folder of the tables."""
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
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of what is finished; it is not done again, even if the code has changed."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def __post_init__(self) -> None:
        for name in ("seeds", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"Expected `{name}` of at least 1. Got {getattr(self, name)}.")
        for name in ("pairs", "prices", "players"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise ValueError(f"Expected `{name}`, each once. Got {values}.")
        if not all(0 < price <= 1000 / 30 for price in self.prices):
            raise ValueError(f"Expected prices above 0 and up to 33, since 30 results come first. Got {self.prices}.")

    def run(self) -> bool:
        """Play, print the table, and return whether everything was finished."""
        tasks = [
            Task(pair, float(price), player, seed)
            for pair in self.pairs
            for price in self.prices
            for player in self.players
            for seed in range(self.seeds)
        ]
        plays, failed = play_all(self.data, tasks, self.workers, self.out)
        show(tables(plays), self.markdown)
        return not failed
