"""Settings of `graph-bandit backtest`, whose docstrings are also its `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from graph_bandit_campaign.checks import NONE, Salts, check_flags, check_least
from graph_bandit_campaign.pool.source import Source, check_features
from graph_bandit_lab import count_cores

BASELINES = ("molecule-greedy",)
LEAST_STARTS = 5  # fewer do not show how much the result depends on the start


@dataclass(frozen=True)
class BacktestSettings:
    """Replay a finished table of molecules: would the suggestions have found the best ones sooner?"""

    table: tyro.conf.Positional[Path]
    """Table of molecules with measured values, in any format that `suggest` reads. A folder made by `graph-bandit
    prepare` works if it fits into memory."""
    out: Path
    """Folder for the page and the results. Existing results are replaced."""
    maximize: str | None = None
    """Results column in which large values are good. Rows without a number are left out."""
    minimize: str | None = None
    """Results column in which small values are good."""
    n: tuple[int, ...] = (8,)
    """Number of molecules in a batch. Several numbers are compared."""
    agents: Annotated[tuple[str, ...], NONE] = ()
    """Algorithms to test, with settings after a colon. By default the one that `suggest` uses for batches of that
    size."""
    baselines: Annotated[tuple[str, ...], NONE] = BASELINES
    """Algorithms to compare with, in addition to random choice. With slots, the baseline is gp-greedy."""
    start: int | None = None
    """Number of random molecules measured first. By default the size of the largest batch, at least 10."""
    budget: int | None = None
    """Number of molecules measured in all. By default a quarter of the table, at most 300, at least two batches."""
    starts: int = 10
    """Number of random starts, at least 5. Fewer hardly show how much the result depends on the start."""
    seed: int = 0
    """Random seed."""
    features: Annotated[tuple[str, ...], NONE] = ()
    """Numeric columns or files of embeddings that help to predict, as in `suggest`."""
    encoder: str = ""
    """Pretrained encoder, as in `suggest`."""
    smiles: str = "smiles"
    """SMILES column. If it is missing, a column with a usual name is used. In an SDF file, `smiles` is the
    structure."""
    id: str | None = None
    """Column of names. By default it is `id`, `name` or the like, if there is one."""
    sheet: str | None = None
    """Sheet of a workbook. By default the first."""
    workers: int | None = 0
    """Number of processes, each on one thread. 0: one for each core; None: only this process."""
    most_atoms: int = 250
    """Maximum number of atoms of a molecule, without hydrogens."""
    salts: Salts = "merge"
    """How to read salts. merge: a salt or charged molecule is described by its parent, the only organic component
    without counter-ions, water and charges. separate: each form is its own molecule. Mixtures and ionic liquids always
    are."""
    slot: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Column that is one part of an experiment: COLUMN or NAME=COLUMN, as in `suggest`. Repeat --slot for each
    column."""
    ignore_column: Annotated[tuple[str, ...], NONE] = ()
    """Columns in which replicate rows may differ. Names, prices, suppliers, dates and comments always may."""
    skip_bad_rows: bool = False
    """Skip rows that are not molecules, and rows whose id occurs for two molecules."""

    def __post_init__(self) -> None:
        check_flags(self)
        if (self.maximize is None) == (self.minimize is None):
            raise ValueError("Expected either `--maximize COLUMN` or `--minimize COLUMN`: a backtest has one goal.")
        least = {"n": 1, "start": 1, "budget": 1, "starts": LEAST_STARTS, "seed": 0, "workers": 0, "most_atoms": 1}
        check_least(self, least)
        for name, given in (("n", self.n), ("agents", self.agents), ("baselines", self.baselines)):
            if len(set(given)) < len(given):
                raise ValueError(f"Expected `--{name}` to be different. Got {' '.join(map(str, given))}.")
        check_features(self.features, (self.quantity,), self.smiles, self.id)

    @property
    def quantity(self) -> str:
        """Return the column of the measured values."""
        return self.maximize or self.minimize or ""

    @property
    def first(self) -> int:
        """Return the number of molecules measured first."""
        return max(*self.n, 10) if self.start is None else self.start

    @property
    def source(self) -> Source:
        """Return the table and its reading options."""
        return Source.of(self, self.table, workers=count_cores())
