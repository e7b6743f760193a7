"""Screen pools of molecules: python -m benchmarks.pools COMMAND ..."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
import tyro

from benchmarks.pools.architectures.command import ArchitecturesCommand
from benchmarks.pools.assays.command import AssaysCommand
from benchmarks.pools.campaign import play_all, read_plays
from benchmarks.pools.coverage import plays as coverage
from benchmarks.pools.coverage.splits import Split
from benchmarks.pools.coverage.tables import tables as tables_of_coverage
from benchmarks.pools.data.catalogue import find_pools
from benchmarks.pools.data.sources import PLANS, DockingScores, Photoswitches, Replay, Source
from benchmarks.pools.failing.command import FailingCommand
from benchmarks.pools.goals.command import GoalsCommand
from benchmarks.pools.halves.command import BacktestCommand
from benchmarks.pools.prices import plays as prices
from benchmarks.pools.prices.tables import tables as tables_of_prices
from benchmarks.pools.promises.command import PromisesCommand
from benchmarks.pools.reliability.figure import draw_reliability
from benchmarks.pools.reliability.forecasts import read_forecasts
from benchmarks.pools.reliability.forecasts import tables as tables_of_forecasts
from benchmarks.pools.salts.command import SaltsCommand
from benchmarks.pools.shuffled.command import ShuffledCommand
from benchmarks.pools.stopping.command import StoppingCommand
from benchmarks.pools.summary import show, tables


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that all pools have."""

    data: Path
    """Folder of the tables."""
    players: tuple[str, ...] = ("forest-greedy", "tanimoto-greedy", "random")
    """forest- or tanimoto- with greedy, ts, ei or ucb (ucb:scale=0.5, in standard deviations), agents by name, with
    settings after a colon, or molecule- agents with columns of a network: pretrained- or crossfitted- with ucb and
    so on; or molecule- agents which only know that the weakest or strongest 30 % of the pool lie beyond a number: weak_
    or strong_ with bounds- (it learns that), numbers- (it takes the number for the result) or dropped-, and ucb and so
    on."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of what is finished; it is not done again, even if the code has changed. Forecasts that a molecule beats
    the best are kept in a second file, FILE.forecasts.csv."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def __post_init__(self) -> None:
        if not self.players or len(set(self.players)) < len(self.players):
            raise ValueError(f"Expected players, each once. Got {self.players}.")
        if self.workers < 1:
            raise ValueError(f"Expected `workers` to be at least 1. Got {self.workers}.")


@dataclass(frozen=True, kw_only=True)
class PlayCommand(Settings, ABC):
    """Settings of plays."""

    reference: str | None = None
    """Player to compare the others with, in pairs of equal seeds; None: the first."""
    seeds: int = 5
    """Plays of each player on a pool, each from another random start."""
    by_pool: bool = False
    """Where there are several pools, print a row for each of them, too."""
    earlier: tuple[Path, ...] = ()
    """Files of plays by other versions of the project, to compare with: a player `p` of FILE.csv is shown as FILE/p."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len({path.stem for path in self.earlier}) < len(self.earlier):
            raise ValueError(f"Expected `earlier` files with different names. Got {', '.join(map(str, self.earlier))}.")
        if self.reference not in (None, *self.players):
            raise ValueError(f"Expected `reference` to be one of {', '.join(self.players)}. Got {self.reference!r}.")

    @abstractmethod
    def sources(self) -> tuple[Source, ...]:
        """Return the pools to play, as they are measured."""

    def run(self) -> bool:
        """Play, print a table for each score, and return whether every play was finished."""
        sources = self.sources()
        plays, failed = play_all(sources, self.players, range(self.seeds), self.workers, self.out)
        others = [read_plays(path, sources, range(self.seeds)) for path in self.earlier]
        plays = pd.concat([plays, *others], ignore_index=True)
        players = list(dict.fromkeys([*self.players, *(name for other in others for name in other["player"])]))
        show(tables(plays, sources, players, self.reference or self.players[0], self.by_pool), self.markdown)
        return not failed


@dataclass(frozen=True, kw_only=True)
class DockingCommand(PlayCommand):
    """Find the best docking scores of 10,000 molecules: 1 % at random, then five batches of 1 %."""

    draw: int = 1
    """Seed by which the 10,000 are drawn from all molecules."""

    def sources(self) -> tuple[Source, ...]:
        """Return the pool."""
        return (DockingScores(self.data, self.draw),)


@dataclass(frozen=True, kw_only=True)
class PhotoswitchesCommand(PlayCommand):
    """Find the photoswitch with the longest wavelength among 392: 5 % at random, then one at a time."""

    rounds: int = 60
    """Measurements after the random ones."""
    seeds: int = 20
    """Plays of each player, each from another random start."""

    def sources(self) -> tuple[Source, ...]:
        """Return the pool."""
        return (Photoswitches(self.data, self.rounds),)


@dataclass(frozen=True, kw_only=True)
class ReplayCommand(PlayCommand):
    """Find the best molecules of many pools, each measured by the same plan."""

    plan: Literal["affinity", "zinc", "chembl", "sequential"]
    """How each pool is measured: "affinity" 60 at random, then 10 batches of 30; "zinc" 10, then 18 of 5; "chembl" 30,
    then 5 of 20; "sequential" 10, then 40 one at a time."""
    pools: tuple[str, ...] = ()
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches), or docking-D for draw D; none: the
    pools for which the plan was made."""
    seeds: int = 10
    """Plays of each player on a pool, each from another random start."""

    def sources(self) -> tuple[Source, ...]:
        """Return the pools, all by the same plan."""
        plan = PLANS[self.plan]
        return tuple(Replay(self.data, pool, plan) for pool in find_pools(self.pools or plan.pools))


@dataclass(frozen=True, kw_only=True)
class CoverageCommand(Settings):
    """Test how many values lie in the intervals that a model predicts from some results."""

    players: tuple[str, ...] = ("tanimoto",)
    """forest, tanimoto, pretrained-ucb or crossfitted-ucb, or agents that predict, by name, with settings after a
    colon."""
    pools: tuple[str, ...] = ("affinity", "zinc", "chembl", "cells")
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches, own-columns, cells), or docking-D for
    draw D."""
    results: tuple[int, ...] = (50, 100, 300)
    """How many graphs are measured, told at once."""
    splits: tuple[Split, ...] = ("random", "scaffold")
    """How the graphs measured are drawn: at random, or one Murcko scaffold after the other. Up to 500 of the others,
    or of those with other scaffolds, are tested."""
    draws: int = 20
    """Draws of the graphs measured, the same for every player."""
    by_pool: bool = False
    """Print a row for each pool, too."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("results", "splits"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise ValueError(f"Expected `{name}`, each once. Got {values}.")
        if min(self.results) < 2 or self.draws < 1:
            raise ValueError(f"Expected at least 2 results and 1 draw. Got {min(self.results)} and {self.draws}.")

    def run(self) -> bool:
        """Test, print the tables, and return whether everything was finished."""
        pools = find_pools(self.pools)
        tasks = [
            coverage.Task(pool, player, split, results, draw)
            for pool in pools
            for draw in range(self.draws)
            for split in self.splits
            for results in self.results
            for player in self.players
        ]
        rows, failed = coverage.cover_all(self.data, tasks, self.workers, self.out)
        show(tables_of_coverage(rows, pools, self.players, self.by_pool), self.markdown)
        return not failed


@dataclass(frozen=True, kw_only=True)
class ReliabilityCommand:
    """Compare forecasts that a molecule beats the best with what came."""

    files: tyro.conf.Positional[tuple[Path, ...]]
    """Files of plays; the forecasts of FILE.csv are in FILE.forecasts.csv."""
    players: tuple[str, ...] = ()
    """Players to show; none: all that made forecasts."""
    pools: tuple[str, ...] = ()
    """Names of the pools to show; none: all."""
    figure: Path | None = None
    """PNG or SVG file for a reliability diagram."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def run(self) -> bool:
        """Print the tables, draw the figure, and return True."""
        forecasts = read_forecasts(self.files, self.players, self.pools)
        show(tables_of_forecasts(forecasts), self.markdown)
        if self.figure is not None:
            draw_reliability(forecasts, self.figure)
            print(f"\n{self.figure}")
        return True


@dataclass(frozen=True, kw_only=True)
class PricesCommand:
    """Spend money on pools with and without a look at the prices, which differ by a factor of ten."""

    data: Path
    """Folder of the tables."""
    pools: tuple[str, ...]
    """Names of pools and groups, as those of `replay`."""
    agents: tuple[str, ...] = ("molecule-ucb",)
    """Agents that weigh prices, by name, with settings after a colon."""
    drawn: tuple[prices.Drawn, ...] = ("any", "size")
    """Prices of any molecule alike, and prices that are higher for large molecules."""
    budget: float = 80
    """Money in a round, where the lowest price is 1 and the highest 10."""
    shares: tuple[float, ...] = (1.0, 0.8, 0.6)
    """What an agent that looks at prices gets of the budget."""
    weights: tuple[float, ...] = (0.5,)
    """By how much the index falls if a price is e times as high. 0.5 is that of molecule-ucb, 1 that of molecule-ei."""
    rounds: int = 5
    """How many rounds there are."""
    batch: int = 96
    """Most molecules that are chosen at a time."""
    seeds: int = 10
    """Plays on each pool, each with other prices and another random start."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of what is finished; it is not done again, even if the code has changed."""
    by_pool: bool = False
    """Print a row for each pool, too."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def run(self) -> bool:
        """Play, print the tables, and return whether everything was finished."""
        pools = find_pools(self.pools)
        budgets = [float(round(share * self.budget, 6)) for share in self.shares]
        plans = [(float(self.budget), 0.0), *((budget, weight) for weight in self.weights for budget in budgets)]
        tasks = [
            prices.Task(pool.name, drawn, agent, budget, self.rounds, self.batch, weight, seed)
            for pool in pools
            for seed in range(self.seeds)
            for drawn in self.drawn
            for agent in self.agents
            for budget, weight in plans
        ]
        rows, failed = prices.play_all(self.data, tasks, self.workers, self.out)
        show(tables_of_prices(rows, [pool.name for pool in pools], self.by_pool), self.markdown)
        return not failed


Command = (
    Annotated[DockingCommand, tyro.conf.subcommand("docking")]
    | Annotated[PhotoswitchesCommand, tyro.conf.subcommand("photoswitches")]
    | Annotated[ReplayCommand, tyro.conf.subcommand("replay")]
    | Annotated[CoverageCommand, tyro.conf.subcommand("coverage")]
    | Annotated[ReliabilityCommand, tyro.conf.subcommand("reliability")]
    | Annotated[FailingCommand, tyro.conf.subcommand("failing")]
    | Annotated[BacktestCommand, tyro.conf.subcommand("backtest")]
    | Annotated[SaltsCommand, tyro.conf.subcommand("salts")]
    | Annotated[ShuffledCommand, tyro.conf.subcommand("shuffled")]
    | Annotated[PromisesCommand, tyro.conf.subcommand("promises")]
    | Annotated[StoppingCommand, tyro.conf.subcommand("stopping")]
    | Annotated[PricesCommand, tyro.conf.subcommand("prices")]
    | Annotated[GoalsCommand, tyro.conf.subcommand("goals")]
    | Annotated[AssaysCommand, tyro.conf.subcommand("assays")]
    | Annotated[ArchitecturesCommand, tyro.conf.subcommand("architectures")]
)


def main(args: list[str] | None = None) -> int:
    """Run a command, and return the exit code (0 done, 1 refused or failed, 130 stopped)."""
    try:
        command: (
            PlayCommand
            | CoverageCommand
            | ReliabilityCommand
            | FailingCommand
            | BacktestCommand
            | SaltsCommand
            | ShuffledCommand
            | PromisesCommand
            | StoppingCommand
            | PricesCommand
            | GoalsCommand
            | AssaysCommand
            | ArchitecturesCommand
        ) = tyro.cli(
            Command,
            args=args,
            prog="python -m benchmarks.pools",
            description="Screen pools of molecules.",
        )
        finished = command.run()
    except KeyboardInterrupt:
        print("\nStopped. Finished plays are kept if `--out` names a file.", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError) as error:
        print(f"benchmarks.pools: {error}", file=sys.stderr)
        return 1
    return 0 if finished else 1


if __name__ == "__main__":
    sys.exit(main())
