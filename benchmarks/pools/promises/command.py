"""The command `promises` of `python -m benchmarks.pools`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.pools.promises.fitting import table_of_fits
from benchmarks.pools.promises.replays import replay_all
from benchmarks.pools.promises.tables import tables
from benchmarks.pools.summary import show


@dataclass(frozen=True, kw_only=True)
class PromisesCommand:
    """Replay campaigns, and compare what was promised of each suggestion with what came."""

    data: Path
    """Folder of the tables."""
    pools: tuple[str, ...]
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches)."""
    starts: int = 2
    """Replays of each pool, each from other random molecules."""
    results: tuple[int, ...] = (10, 30, 100)
    """How many molecules are measured first, at random."""
    sizes: tuple[int, ...] = (1, 8, 30)
    """How many molecules are in a batch."""
    rounds: tuple[int, ...] = (15, 4, 3)
    """How many batches of each size."""
    fit: bool = False
    """Fit the constants of the correction to these pools, too."""
    by_pool: bool = False
    """Print a row for each pool, too."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of finished replays; they are not done again, even if the code has changed."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def __post_init__(self) -> None:
        for name in ("starts", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"Expected `{name}` of at least 1. Got {getattr(self, name)}.")
        if not self.results or min(self.results) < 2:
            raise ValueError(f"Expected `results` of at least 2 each. Got {self.results}.")
        if not self.sizes or len(self.sizes) != len(self.rounds) or min(*self.sizes, *self.rounds) < 1:
            raise ValueError(
                f"Expected `sizes` and as many `rounds`, each at least 1. Got {self.sizes} and {self.rounds}."
            )

    def run(self) -> bool:
        """Replay, print the tables, and return whether every replay was finished."""
        batches = tuple(zip(self.sizes, self.rounds, strict=True))
        rows, failed = replay_all(self.data, self.pools, self.starts, self.results, batches, self.workers, self.out)
        if rows.empty:
            raise ValueError("Expected a replay that was finished. Got none.")
        show([*tables(rows, self.by_pool), *([table_of_fits(rows)] if self.fit else [])], self.markdown)
        return not failed
