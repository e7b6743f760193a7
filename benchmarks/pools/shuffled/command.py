"""The command `shuffled` of `python -m benchmarks.pools`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.pools.shuffled.plays import play_shuffled
from benchmarks.pools.summary import Table, show

HEADER = (
    "pool", "molecules", "as it is", "shuffles", "verdicts on these", "by intervals over starts alone",
)  # fmt: skip
COUNTED = ("verdict", "interval")
WORDS = {1.0: "helped", 0.0: "cannot be told", -1.0: "harm"}


@dataclass(frozen=True, kw_only=True)
class ShuffledCommand:
    """Count the verdicts of backtests on values that were shuffled among the molecules: each of them is false."""

    data: Path
    """Folder of the tables."""
    pools: tuple[str, ...] = ("ESOL", "photoswitches", "CHEMBL2047_EC50")
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches)."""
    shuffles: int = 20
    """How many shuffles of each pool."""
    agent: str = "molecule-ucb"
    """Agent that is compared with random choice."""
    n: int = 8
    """How many molecules are measured in a batch."""
    starts: int = 10
    """Random starts of each backtest; at least 5."""
    rows: int = 640
    """Most molecules of a pool, drawn at random."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of finished backtests; they are not done again, even if the code has changed."""
    markdown: bool = False
    """Print the table in Markdown."""

    def __post_init__(self) -> None:
        for name, least in (("shuffles", 1), ("n", 1), ("starts", 5), ("rows", 60), ("workers", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"Expected `{name}` of at least {least}. Got {getattr(self, name)}.")

    def run(self) -> bool:
        """Play, print the table, and return whether every backtest was finished."""
        plays, failed = play_shuffled(
            self.data, self.pools, self.shuffles, self.agent, self.n, self.starts, self.rows, self.workers, self.out
        )
        if plays.empty:
            raise ValueError("Expected a backtest that was finished. Got none.")
        show([table_of(plays)], self.markdown)
        return not failed


def table_of(plays: pd.DataFrame) -> Table:
    """Return a row for each pool: the verdict on it as it is, and how many there were on shuffled values."""
    rows: list[tuple[str, ...]] = [HEADER]
    for pool, part in plays.groupby("pool", sort=False):
        true, null = (part[(part["shuffle"] == "0") == is_true] for is_true in (True, False))
        counts = [f"{(null[name] == 1).sum()} helped, {(null[name] == -1).sum()} harm" for name in COUNTED]
        verdict = ", ".join(WORDS[value] for value in true["verdict"])
        rows.append((str(pool), f"{part['molecules'].iloc[0]:.0f}", verdict, str(len(null)), *counts))
    return Table("Verdicts of backtests on shuffled values, which are all false", rows)
