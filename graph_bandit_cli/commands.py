"""What the commands of `graph-bandit` take, `run` and `suggest` aside. The strings are also the `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro


@dataclass(frozen=True)
class ReportSettings:
    """Write the report of a folder again, from its stored results."""

    folder: tyro.conf.Positional[Path]
    """Folder that `graph-bandit run --out` wrote."""
    markdown: bool = False
    """Print the table too, in Markdown; of a sweep, also one of every environment."""
    csv: Path | None = None
    """Write a row for each repetition to this file too, environment and agent settings in columns of their own."""
    parquet: Path | None = None
    """The same as an Apache Parquet file, with actions, rewards and regret of each round (the extra `parquet`)."""


@dataclass(frozen=True)
class CompareSettings:
    """Say whether a change made agents better or worse: two folders, paired on equal environments and seeds."""

    before: tyro.conf.Positional[Path]
    """Folder of results before the change."""
    after: tyro.conf.Positional[Path]
    """Folder of results after it."""


@dataclass(frozen=True)
class AgentsSettings:
    """List the agents that are installed, or the settings of one."""

    name: tyro.conf.Positional[str | None] = None
    """Agent whose settings to explain."""


@dataclass(frozen=True)
class TunedSettings:
    """Write the best settings of a folder, for each agent and graph model, to a file that `sweep --tuned` reads."""

    folder: tyro.conf.Positional[Path]
    """Folder of results in which agents were played under many settings."""
    out: Path
    """The file, which is replaced."""


@dataclass(frozen=True)
class SweepCommand:
    """Play a grid of environments and agents in parallel, keep every repetition, and go on after any interruption."""

    sweep: tyro.conf.Positional[str]
    """A TOML file, or a preset: quick, tune, paper-figure1, paper-table1 and others. README.md shows both."""
    out: Path
    """Folder for results and the log. Repetitions that it holds are not played again."""
    workers: int = 0
    """Processes, each on one thread; 0: one for each core."""
    scheduler: str | None = None
    """Address of a Dask scheduler, tcp://host:port; None: processes on this machine."""
    fit: Literal["steps", "literal"] = "steps"
    """Stands for {fit} in the agents of a preset: a fixed number of steps a round, or the paper's 30 passes."""
    tuned: Path | None = None
    """File of tuned settings, for {tuned} in the agents of a preset; None: the settings that come with the fit."""
    agents: tuple[str, ...] = ()
    """Agents instead of those of the sweep, on the same environments and seeds."""
    repetitions: int | None = None
    """Repetitions instead of those of the sweep; the first seeds stay the same."""
    dry_run: bool = False
    """Say how many repetitions there are, how many are stored, and about how long the rest will take."""
    retry_failed: bool = False
    """Play those again that are stored as failed."""


@dataclass(frozen=True)
class LibraryCommand:
    """Write a pool of 4,419 molecules, and results of a few of them, to try `suggest` on."""

    out: Path
    """Folder for pool.csv and measured.csv, which are replaced."""
    property: Literal["qed", "logp", "tpsa"] = "qed"
    """What the results are: drug-likeness, Crippen logP, or the polar surface in square angstroms."""
    measured: int = 30
    """How many of the molecules, drawn at random, have results."""
    seed: int = 0
    """Seed by which they are drawn."""
