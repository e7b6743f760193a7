"""The command `backtest` of `python -m benchmarks.pools`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import registry
from benchmarks.pools.halves.figure import draw_halves
from benchmarks.pools.halves.plays import play_halves
from benchmarks.pools.halves.tables import tables
from benchmarks.pools.summary import show
from graph_bandit_lab import AgentSpec

# the first ten of the group `chembl` with at most 2,500 molecules
NAMES = "1862_Ki 1871_Ki 2034_Ki 2047_EC50 2147_Ki 218_EC50 219_Ki 228_Ki 231_Ki 237_EC50"
TEN = tuple(f"CHEMBL{name}" for name in NAMES.split())


@dataclass(frozen=True, kw_only=True)
class BacktestCommand:
    """Compare what a backtest of one half of a pool promises with what the other half then gives."""

    data: Path
    """Folder of the tables."""
    pools: tuple[str, ...] = TEN
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches)."""
    agent: str = "molecule-ucb"
    """Agent that is compared with random choice."""
    n: int = 20
    """How many molecules are measured in a batch."""
    starts: int = 5
    """Random starts on each half; at least 5, as in every backtest."""
    splits: int = 2
    """How often each pool is split in two at random."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of finished backtests; they are not done again, even if the code has changed."""
    figure: Path | None = None
    """PNG or SVG file for a scatter of what came against what was promised."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def __post_init__(self) -> None:
        for name, least in (("n", 1), ("starts", 5), ("splits", 1), ("workers", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"Expected `{name}` of at least {least}. Got {getattr(self, name)}.")
        spec = AgentSpec.parse(self.agent)
        registry.make_agent(spec.name, **spec.settings)  # refuses unknown names before anything is played

    def run(self) -> bool:
        """Play, print the tables, draw the figure, and return whether every backtest was finished."""
        starts, failed = play_halves(
            self.data, self.pools, self.splits, self.agent, self.n, self.starts, self.workers, self.out
        )
        if starts.empty:
            raise ValueError("Expected a backtest that was finished. Got none.")
        show(tables(starts), self.markdown)
        if self.figure is not None:
            draw_halves(starts, self.figure)
            print(f"\n{self.figure}")
        return not failed
