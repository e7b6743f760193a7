"""The command `stopping` of `python -m benchmarks.pools`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.pools.stopping.replays import START, replay_all
from benchmarks.pools.stopping.rules import tables
from benchmarks.pools.summary import show


@dataclass(frozen=True, kw_only=True)
class StoppingCommand:
    """Replay campaigns, and count what rules that say when to stop would have missed and saved."""

    data: Path
    """Folder of the tables."""
    pools: tuple[str, ...]
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches)."""
    starts: int = 2
    """Replays of each pool, each from 30 other random molecules."""
    size: int = 20
    """How many molecules are in a batch."""
    most: float = 0.6
    """A replay ends when this share of the pool is measured."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of finished replays; they are not done again, even if the code has changed."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def __post_init__(self) -> None:
        for name in ("starts", "size", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"Expected `{name}` of at least 1. Got {getattr(self, name)}.")
        if not 0 < self.most <= 1:
            raise ValueError(f"Expected `most` above 0 and at most 1. Got {self.most!r}.")

    def run(self) -> bool:
        """Replay, print the tables, and return whether every replay was finished."""
        rounds, failed = replay_all(self.data, self.pools, self.starts, self.size, self.most, self.workers, self.out)
        if rounds.empty:
            least = f"{START + self.size} molecules in a share of {self.most}"
            raise ValueError(f"Expected pools of at least {least}. Got none that was replayed.")
        show(tables(rounds), self.markdown)
        return not failed
