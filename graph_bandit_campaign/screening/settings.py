"""Settings of `graph-bandit screen`; the docstrings are also its `--help`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated

import tyro

from graph_bandit_campaign.checks import NONE, check_least
from graph_bandit_campaign.command.settings import SuggestSettings


@dataclass(frozen=True)
class ScreenSettings(SuggestSettings):
    """Screen a pool with a program of your own: it computes the values of a batch, which decide on the next batch."""

    pool: tyro.conf.Positional[Path]
    """What to choose from: a library of products, .toml; a table of molecules of any kind that `suggest` reads; or a
    folder that `graph-bandit prepare` made of one."""
    out: Path
    """Table of all results, .csv or .tsv: id, smiles, and the value or `failed`. It is replaced whenever values come
    in. The batch that is computed, and the campaign, are in files next to it, .next.csv and .next.campaign.json."""
    score: str = field(kw_only=True)
    """The program and its arguments, in quotation marks: "python dock.py --receptor r.pdb". No shell reads it. Two
    paths follow: a table to read (id, smiles) and one to write (id, value)."""
    evaluations: int = field(kw_only=True)
    """How many molecules the program is given in all, those of earlier runs of this command included."""
    measured: Annotated[tuple[Path, ...], NONE] = ()
    """Tables of earlier results (same formats as the pool), from which the first batch is learnt."""
    n: int = 100
    """How many molecules to choose at a time."""
    maximize: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Name of the value, if large ones are wanted."""
    minimize: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Name of the value, if small ones are wanted."""
    budget: float | None = None
    """What each batch may cost in all. It has never more than --n molecules, and fewer if the money ends first."""
    at_most: int | None = None
    """How many molecules of a batch may be of one group, which --per names."""
    html: Path | None = None
    """Page to write with each batch, with the drawn structures and the progress of the campaign."""
    chunk: int = 10
    """How many molecules the program is given at a time."""
    jobs: int = 0
    """How many programs run at a time; 0: one for each core."""
    timeout: float = 3600.0
    """Seconds that the program may take over a chunk. Then it is ended, with all that it has started."""

    noise: str | None = field(default=None, init=False)
    near: tuple[str, ...] = field(default=(), init=False)
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
            n: how many molecules it has.
            has_results: whether the table of results is there.
        """
        same = {setting.name: getattr(self, setting.name) for setting in fields(SuggestSettings)}
        results, out = (*self.measured, *[self.out] * has_results), self.out.with_name(self.out.stem + ".next.csv")
        kind = (f"{self.target}=number",)  # a program may still compute others
        return SuggestSettings(**same | {"n": n, "out": out, "measured": results, "goal_kind": kind})
