"""What `graph-bandit suggest` takes; the strings are also its `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class SuggestSettings:
    """Suggest which molecules of a table to measure next, from those that were measured."""

    pool: tyro.conf.Positional[Path]
    """Table of molecules to choose from: .csv, .tsv, .txt, .smi or .sdf (each also .gz), .xlsx, or .parquet."""
    out: Path
    """CSV file of the suggestions, which is replaced. What was suggested before is kept beside it."""
    measured: tuple[Path, ...] = ()
    """Tables of results, of the same kinds; molecules that the pool does not hold teach too. Without any, a first batch
    is suggested from what the molecules look like alone."""
    n: int = 8
    """How many to suggest."""
    maximize: str | None = None
    """Column of the measured values, of which large ones are wanted: a number, `failed`, `pending` or nothing."""
    minimize: str | None = None
    """The same, if small ones are wanted."""
    smiles: str = "smiles"
    """Column of the SMILES, in pool and results; of an SDF file, `smiles` is the structure."""
    id: str | None = None
    """Column of the names, in pool and results; None: `id`, where the pool has such a column."""
    sheet: str | None = None
    """Sheet of the pool, if it is a workbook (.xlsx); None: the first."""
    measured_sheet: str | None = None
    """Sheet of the results, in workbooks; None: the first."""
    html: Path | None = None
    """Page of drawn structures and of the progress of the campaign."""
    agent: str = "molecule-ucb"
    """Agent that chooses, with settings after a colon: molecule-ts, molecule-greedy, molecule-ucb:networks=3."""
    seed: int = 0
    """Seed of all randomness."""
    undo: bool = False
    """Take the last round back first, as if it had not been suggested."""
    forget: bool = False
    """Go on although results of earlier rounds are not in the tables any more."""
    again: bool = False
    """Suggest those again that were suggested before and have no result; else they count as being measured."""
    skip_bad_rows: bool = False
    """Leave out rows of the pool that are no molecules."""

    def __post_init__(self) -> None:
        if (self.maximize is None) == (self.minimize is None):
            raise ValueError("Expected one of `--maximize COLUMN` and `--minimize COLUMN`.")
        if self.n < 1:
            raise ValueError(f"Expected `--n` to be at least 1. Got {self.n}.")
        paths = [path.resolve() for path in (self.pool, *self.measured)]
        for name, path in (("out", self.out), ("html", self.html)):
            if path is not None and path.resolve() in paths:
                raise ValueError(f"Expected `--{name}` to be another file than the others. Got {path}.")
            paths += [] if path is None else [path.resolve()]

    @property
    def target(self) -> str:
        """Return the column of the measured values."""
        return self.maximize or self.minimize or ""

    @property
    def state(self) -> Path:
        """Return the file of the campaign."""
        return self.out.with_name(self.out.stem + ".campaign.json")
