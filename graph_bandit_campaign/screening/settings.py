"""Settings of `graph-bandit screen`, whose docstrings are also its `--help`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated

import tyro

from graph_bandit_campaign.checks import NONE, check_least
from graph_bandit_campaign.command.settings import SuggestSettings


@dataclass(frozen=True)
class ScreenSettings(SuggestSettings):
    """Screen a pool with your own scoring program. Its values for each batch determine the next batch."""

    pool: tyro.conf.Positional[Path]
    """Library of products (.toml), a table of molecules of any kind that `suggest` reads, or a folder made by
    `graph-bandit prepare`."""
    out: Path
    """Table of all results to write, .csv or .tsv: id, smiles, and the value or `failed`. It is updated whenever values
    arrive. The current batch and the campaign are in files next to it, .next.csv and .next.campaign.json."""
    score: str = field(kw_only=True)
    """Scoring program with its arguments, in quotation marks: "python dock.py --receptor r.pdb". It runs without a
    shell. Two paths are appended: a table to read (id, smiles) and a table to write (id, value)."""
    evaluations: int = field(kw_only=True)
    """Total number of molecules to score, including earlier runs of this command."""
    measured: Annotated[tuple[Path, ...], NONE] = ()
    """Tables of earlier results, from which the first batch is chosen. They have the same formats as the pool."""
    n: int = 100
    """Number of molecules in each batch."""
    maximize: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Name of the value, if large values are good."""
    minimize: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Name of the value, if small values are good."""
    budget: float | None = None
    """Maximum total price of each batch. A batch has at most --n molecules, and fewer if the money runs out."""
    max_per_group: int | None = None
    """Maximum number of molecules of a batch in each group of --group-by."""
    html: Path | None = None
    """Web page to write for each batch, with structures and progress."""
    chunk: int = 10
    """Number of molecules given to the program at a time."""
    jobs: int = 0
    """Number of programs that run at a time. 0: one for each core."""
    timeout: float = 3600.0
    """Seconds allowed for one chunk. After that, the program and everything it started is stopped."""

    noise: str | None = field(default=None, init=False)
    target: tuple[str, ...] = field(default=(), init=False)
    goal_kind: tuple[str, ...] = field(default=(), init=False)
    weights: tuple[str, ...] = field(default=(), init=False)
    predictions: Path | None = field(default=None, init=False)
    directed: bool | None = field(default=None, init=False)
    undo: bool = field(default=False, init=False)
    again: bool = field(default=False, init=False)
    next_batch: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        SuggestSettings.__post_init__(self)
        if len(self.goals) != 1:
            raise ValueError(f"Expected one goal, whose value the program computes. Got {len(self.goals)} goals.")
        check_least(self, {"evaluations": 1, "chunk": 1, "jobs": 0, "timeout": 0})

    def batch(self, n: int, has_results: bool = False) -> SuggestSettings:
        """Return the settings of `suggest` for the next batch.

        Args:
            n: number of molecules.
            has_results: True if the table of results exists.
        """
        same = {setting.name: getattr(self, setting.name) for setting in fields(SuggestSettings)}
        results, out = (*self.measured, *[self.out] * has_results), self.out.with_name(self.out.stem + ".next.csv")
        kind = (f"{self.quantity}=number",)  # the program may return other values later
        return SuggestSettings(**same | {"n": n, "out": out, "measured": results, "goal_kind": kind})
