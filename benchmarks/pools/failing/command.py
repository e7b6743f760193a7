"""The command `failing` of `python -m benchmarks.pools`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.pools.data.catalogue import find_pools
from benchmarks.pools.failing.plays import play_all
from benchmarks.pools.failing.tables import tables
from benchmarks.pools.summary import show


@dataclass(frozen=True, kw_only=True)
class FailingCommand:
    """Count how many molecules that fail are suggested, with and without learning from failures.

    Molecules fail by a hidden substructure that 15 to 25 % of the pool have (up to three for each pool), by their logP,
    or at random. 30 molecules are tried at random, then five batches of 20.
    """

    data: Path
    """Folder of the tables."""
    pools: tuple[str, ...] = ("chembl",)
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches), or docking-D for draw D."""
    agent: str = "default"
    """Agent that chooses, as on the command line."""
    seeds: int = 1
    """Plays of each cause of each pool, from different random starts."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of what is finished; it is not done again, even if the code has changed."""
    by_cause: bool = False
    """Print a row for each cause of each pool, too."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def __post_init__(self) -> None:
        for name in ("seeds", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"Expected `{name}` of at least 1. Got {getattr(self, name)}.")

    def run(self) -> bool:
        """Play, print the tables, and return whether everything was finished."""
        pools = find_pools(self.pools)
        plays, failed = play_all(self.data, pools, self.agent, self.seeds, self.workers, self.out)
        show(tables(plays, self.by_cause), self.markdown)
        return not failed
