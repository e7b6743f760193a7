"""The command `architectures` of `python -m benchmarks.pools`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from agents.contract import BatchAgent
from benchmarks.kept_tasks import do_missing
from benchmarks.pools.architectures.plays import COLUMNS, KEY, RANDOM, START, TPE, make_agent, measure
from benchmarks.pools.data.catalogue import find_pools
from benchmarks.pools.screening import Floats
from benchmarks.pools.summary import Table, show
from graph_bandit_lab.analysis import bootstrap_interval

TITLES = {"found": "best found", "short": "simple regret", "correlation": "rank correlation of predictions"}


@dataclass(frozen=True, kw_only=True)
class ArchitecturesCommand:
    """Search tables of trained networks, ten at random and then one at a time, and predict the whole of them."""

    data: Path
    """Folder of the tables."""
    pools: tuple[str, ...] = ("citeseer",)
    """Names of pools and groups (architectures, cells)."""
    players: tuple[str, ...] = (RANDOM, TPE, "wl-ei")
    """"random", "tpe" (Optuna, on the words of a network's text), or agents by name, with settings after a colon."""
    after: tuple[int, ...] = (20, 50, 100)
    """Numbers of results after which the best found is shown; none: nothing is searched."""
    known: tuple[int, ...] = (50, 100, 300)
    """Numbers of random results from which agents predict; none: nothing is predicted."""
    seeds: int = 20
    """Searches and draws of random results, the same ones for every player."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of what is finished; it is not done again, even if the code has changed."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def __post_init__(self) -> None:
        for name, least in (("after", START), ("known", 2)):
            if min(getattr(self, name), default=least) < least:
                raise ValueError(f"Expected `{name}` of at least {least}. Got {getattr(self, name)}.")
        if self.seeds < 1 or self.workers < 1:
            raise ValueError(f"Expected at least 1 seed and worker. Got {self.seeds} and {self.workers}.")
        for player in set(self.players) - {RANDOM, TPE}:
            make_agent(player)  # refuses unknown names before anything is played

    def run(self) -> bool:
        """Measure, print a table for each score, and return whether everything was finished."""
        pools = [pool.name for pool in find_pools(self.pools)]
        agents = [player for player in self.players if player not in (RANDOM, TPE)]
        predicting = [player for player in agents if isinstance(make_agent(player), BatchAgent)]
        asked = [("found", self.players, self.after), ("predicted", predicting, self.known)]
        tasks = [
            (pool, player, kind, seed, " ".join(map(str, numbers)), self.data)
            for pool in pools
            for seed in range(self.seeds)
            for kind, players, numbers in asked
            for player in players
            if numbers
        ]
        rows, failed = do_missing(measure, tasks, COLUMNS, len(KEY), self.workers, self.out)
        tables = [tabulate(rows, pool, score, self.players) for pool in pools for score in TITLES]
        show([table for table in tables if len(table.rows) > 1], self.markdown)
        return not failed


def tabulate(rows: pd.DataFrame, pool: str, score: str, players: tuple[str, ...]) -> Table:
    """Return a table of the mean score of each player after each number of results, with intervals over seeds."""
    here = rows[(rows["pool"] == pool) & rows[score].notna()]
    numbers = sorted(here["results"].unique())
    found = [("player", *(f"after {number:g} [95 %]" for number in numbers), "seeds")]
    for player in players:
        own = here[here["player"] == player]
        if len(own):
            by_number = [own.loc[own["results"] == number, score].to_numpy() for number in numbers]
            found.append((player, *map(_with_interval, by_number), str(own["seed"].nunique())))
    return Table(f"{pool}: {TITLES[score]}, with 95 % intervals over seeds", found)


def _with_interval(values: Floats) -> str:
    low, high = bootstrap_interval(values)
    return f"{values.mean():.4g} [{low:.4g}, {high:.4g}]"
