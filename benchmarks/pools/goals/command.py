"""The command `goals` of `python -m benchmarks.pools`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.pools.goals.plays import PLAYERS, Task, play_all
from benchmarks.pools.goals.tables import tables
from benchmarks.pools.summary import show


@dataclass(frozen=True, kw_only=True)
class GoalsCommand:
    """Measure pools for two goals, and compare the hypervolume of what was measured with that of the pool.

    20 molecules are measured at random, then eight batches of 10.
    """

    data: Path
    """Folder of the tables."""
    pairs: tuple[str, ...] = ("solubility:HLM",)
    """Pairs of pools whose molecules are partly the same. Those that have both values are played."""
    players: tuple[str, ...] = PLAYERS
    """front: a campaign with both goals; weighted: the same with equal weights; sum: a campaign with one goal, the sum
    of the values in standard deviations of the first results; random."""
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
        for name in ("pairs", "players"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise ValueError(f"Expected `{name}`, each once. Got {values}.")

    def run(self) -> bool:
        """Play, print the tables, and return whether everything was finished."""
        tasks = [
            Task(pair, player, seed) for pair in self.pairs for seed in range(self.seeds) for player in self.players
        ]
        plays, failed = play_all(self.data, tasks, self.workers, self.out)
        show(tables(plays), self.markdown)
        return not failed
