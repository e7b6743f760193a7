"""Screen pools of molecules: python -m benchmarks.pools {docking,photoswitches} --data FOLDER --players NAME ..."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from benchmarks.pools.campaign import play_all
from benchmarks.pools.sources import DockingScores, Photoswitches, Source
from benchmarks.pools.summary import tables
from graph_bandit_lab.reports import print_columns, to_markdown


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that all pools have."""

    data: Path
    """Folder of the tables."""
    players: tuple[str, ...] = ("forest-greedy", "tanimoto-greedy", "random")
    """forest- or tanimoto- with greedy, ts, ei or ucb (ucb:scale=0.5, in standard deviations), or agents by name, with
    settings after a colon."""
    reference: str | None = None
    """Player to compare the others with, in pairs of equal seeds; None: the first."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of finished plays; they are not played again, even if the code has changed."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def __post_init__(self) -> None:
        if not self.players or len(set(self.players)) < len(self.players):
            raise ValueError(f"Expected players, each once. Got {self.players}.")
        if self.reference not in (None, *self.players):
            raise ValueError(f"Expected `reference` to be one of {', '.join(self.players)}. Got {self.reference!r}.")
        if self.workers < 1:
            raise ValueError(f"Expected `workers` to be at least 1. Got {self.workers}.")


@dataclass(frozen=True, kw_only=True)
class DockingCommand(Settings):
    """Find the best docking scores of 10,000 molecules: 1 % at random, then five batches of 1 %."""

    draw: int = 1
    """Seed by which the 10,000 are drawn from all molecules."""
    seeds: int = 5
    """Plays of each player, each from another random start."""

    def source(self) -> Source:
        """Return the pool."""
        return DockingScores(self.data, self.draw)


@dataclass(frozen=True, kw_only=True)
class PhotoswitchesCommand(Settings):
    """Find the photoswitch with the longest wavelength among 392: 5 % at random, then one at a time."""

    rounds: int = 60
    """Measurements after the random ones."""
    seeds: int = 20
    """Plays of each player, each from another random start."""

    def source(self) -> Source:
        """Return the pool."""
        return Photoswitches(self.data, self.rounds)


Command = (
    Annotated[DockingCommand, tyro.conf.subcommand("docking")]
    | Annotated[PhotoswitchesCommand, tyro.conf.subcommand("photoswitches")]
)


def main(args: list[str] | None = None) -> int:
    """Play, print a table for each score, and return the exit code (0 done, 1 refused or failed, 130 stopped)."""
    try:
        command: DockingCommand | PhotoswitchesCommand = tyro.cli(
            Command,
            args=args,
            prog="python -m benchmarks.pools",
            description="Screen pools of molecules.",
        )
        plays, failed = play_all(command.source(), command.players, range(command.seeds), command.workers, command.out)
        for rows in tables(plays, command.players, command.reference or command.players[0]):
            print()
            print("\n".join(to_markdown(rows))) if command.markdown else print_columns(rows)
    except KeyboardInterrupt:
        print("\nStopped. Finished plays are kept if `--out` names a file.", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError) as error:
        print(f"benchmarks.pools: {error}", file=sys.stderr)
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
