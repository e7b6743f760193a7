"""Settings of `graph-bandit backtest`; the docstrings are also its `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from graph_bandit_campaign.checks import NONE, Salts, check_flags, check_least
from graph_bandit_campaign.pool.source import Source, check_features
from graph_bandit_lab import count_cores

BASELINES = ("molecule-greedy",)
LEAST_STARTS = 5  # fewer tell nothing of how much the result depends on the start


@dataclass(frozen=True)
class BacktestSettings:
    """Replay a finished table of molecules: would the suggestions have found the best ones sooner?"""

    table: tyro.conf.Positional[Path]
    """Table of molecules with their measured values, in any format that `suggest` reads; or a folder that
    `graph-bandit prepare` made of one, if it fits into memory."""
    out: Path
    """Folder for the page and the results, which are replaced."""
    maximize: str | None = None
    """Column of the measured values, if large ones are wanted. Rows without a number are left out."""
    minimize: str | None = None
    """The same, if small ones are wanted."""
    n: tuple[int, ...] = (8,)
    """How many molecules are measured in a batch; several numbers are compared."""
    agents: Annotated[tuple[str, ...], NONE] = ()
    """Agents that choose, with settings after a colon. None: the one that `suggest` takes for a batch of that size."""
    baselines: Annotated[tuple[str, ...], NONE] = BASELINES
    """Agents with which these are compared, as with random choice; where slots are compared, gp-greedy."""
    start: int | None = None
    """How many molecules are measured first, at random; None: as many as the largest batch, at least 10."""
    budget: int | None = None
    """How many molecules are measured in all; None: a quarter of the table, at most 300, at least two batches."""
    starts: int = 10
    """Number of random starts, at least 5: fewer hardly show how much the result depends on the start."""
    seed: int = 0
    """Seed of all randomness."""
    features: Annotated[tuple[str, ...], NONE] = ()
    """Columns of numbers of your own, or files of embeddings, as `suggest` reads them."""
    encoder: str = ""
    """Pretrained encoder, as `suggest` takes it."""
    smiles: str = "smiles"
    """Column of the SMILES, else one with a usual name; in an SDF file, `smiles` is the structure."""
    id: str | None = None
    """Column of the names; None: `id`, `name` or the like, if the table has such a column."""
    sheet: str | None = None
    """Sheet, if the table is a workbook (.xlsx); None: the first."""
    workers: int | None = 0
    """Processes, each on one thread; 0: one for each core; None: this process itself plays."""
    most_atoms: int = 250
    """How many atoms a molecule may have, without hydrogens."""
    salts: Salts = "merge"
    """merge: salts and charged molecules are described by their parent, the only organic molecule beside counter-ions
    and water, without charges. separate: each is a molecule of its own, as mixtures and ionic liquids always are."""
    slot: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Column that is a part of what is chosen, COLUMN or NAME=COLUMN, as `suggest` reads it. Give --slot once for each.
    """
    ignore_column: Annotated[tuple[str, ...], NONE] = ()
    """Columns in which rows of one entry may differ, as replicates do."""
    skip_bad_rows: bool = False
    """Leave out rows that are not molecules, and those whose id two molecules have."""

    def __post_init__(self) -> None:
        check_flags(self)
        if (self.maximize is None) == (self.minimize is None):
            raise ValueError("Expected either `--maximize COLUMN` or `--minimize COLUMN`: a backtest has one goal.")
        least = {"n": 1, "start": 1, "budget": 1, "starts": LEAST_STARTS, "seed": 0, "workers": 0, "most_atoms": 1}
        check_least(self, least)
        for name, given in (("n", self.n), ("agents", self.agents), ("baselines", self.baselines)):
            if len(set(given)) < len(given):
                raise ValueError(f"Expected `--{name}` to be different. Got {' '.join(map(str, given))}.")
        check_features(self.features, (self.target,), self.smiles, self.id)

    @property
    def target(self) -> str:
        """Return the column of the measured values."""
        return self.maximize or self.minimize or ""

    @property
    def first(self) -> int:
        """Return how many molecules are measured first."""
        return max(*self.n, 10) if self.start is None else self.start

    @property
    def source(self) -> Source:
        """Return the table, and how it is read."""
        return Source.of(self, self.table, workers=count_cores())
