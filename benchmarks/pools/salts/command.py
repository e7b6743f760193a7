"""The command `salts` of `python -m benchmarks.pools`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.pools.salts.plays import BATCH, LIMIT, TOP, play_salts
from benchmarks.pools.summary import Table, show

HEADER = (
    "pool", "compounds", "with salts", "forms", f"compounds in a batch of {BATCH}", "range of predictions (sd)",
    f"below {LIMIT} and left out", f"of the best {TOP}",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SaltsCommand:
    """Play campaigns on pools of which bases and acids are there as three salts, too: forms joined, or apart."""

    data: Path
    """Folder of the tables."""
    pools: tuple[str, ...] = ("CHEMBL2034_Ki", "CHEMBL218_EC50", "HLM")
    """Names of pools and groups (affinity, zinc, chembl, adme, esol, switches)."""
    starts: int = 5
    """Random starts of each pool."""
    most: int = 400
    """Most compounds of a pool, drawn at random."""
    added: bool = True
    """Add three salts of each base and acid; else pools are as they are, and it shows what charges change."""
    workers: int = 1
    """Processes, each on one thread."""
    out: Path | None = None
    """CSV file of finished plays; they are not played again, even if the code has changed."""
    markdown: bool = False
    """Print the table in Markdown."""

    def __post_init__(self) -> None:
        for name, least in (("starts", 1), ("most", 100), ("workers", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"Expected `{name}` of at least {least}. Got {getattr(self, name)}.")

    def run(self) -> bool:
        """Play, print the table, and return whether every play was finished."""
        plays, failed = play_salts(self.data, self.pools, self.starts, self.most, self.added, self.workers, self.out)
        if plays.empty:
            raise ValueError("Expected a play that was finished. Got none.")
        show([table_of(plays)], self.markdown)
        return not failed


def table_of(plays: pd.DataFrame) -> Table:
    """Return a row for each pool and each way to take forms, with means over the starts."""
    rows: list[tuple[str, ...]] = [HEADER]
    for (pool, forms), part in plays.groupby(["pool", "forms"], sort=False):
        mean = part.mean(numeric_only=True)
        scores = [f"{mean['different']:.1f}", f"{mean['spread']:.2f}", f"{mean['lost']:.0f}", f"{mean['best']:.1f}"]
        rows.append((str(pool), f"{mean['compounds']:.0f}", f"{mean['salts']:.0f}", str(forms), *scores))
    return Table("Salts in the pool", rows)
