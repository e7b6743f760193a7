"""Compare agents on graphs that change: python -m benchmarks.sweeps.changing FOLDER, of `graph-bandit sweep changing`.

For each environment it prints R_T, what it is of that of random play, the same of the second half of the rounds, and
the paired difference from one agent, on equal instances.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import tyro

from graph_bandit_lab import load_results
from graph_bandit_lab.analysis import mean_interval, paired_interval
from graph_bandit_lab.design import name_environments
from graph_bandit_lab.reports import print_columns


@dataclass(frozen=True, kw_only=True)
class Command:
    """What to compare."""

    folder: tyro.conf.Positional[Path]
    """Folder of results."""
    against: str = "lin-ts"
    """Agent from which the differences are taken."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def run(self) -> int:
        """Print a table for each environment."""
        results = load_results(self.folder, arrays=("regret",))
        results = results[results["status"] == "finished"]
        firsts = results.drop_duplicates("environment_key")
        names = name_environments(list(firsts["environment"]))
        for key, name in zip(firsts["environment_key"], names, strict=True):
            rows = compare(results[results["environment_key"] == key], self.against)
            print(f"\n{name}\n")
            print_columns(rows, markdown=self.markdown)
        return 0


def compare(results: pd.DataFrame, against: str) -> list[tuple[str, ...]]:
    """Return header and rows of a table of one environment, lowest mean R_T first.

    Args:
        results: of `load_results`, finished and with regret; "random" is among them.
        against: agent from which differences are taken, on the seeds that both have played.

    Raises:
        ValueError: if that agent or random play is missing.
    """
    for needed in ("random", against):
        if needed not in set(results["label"]):
            raise ValueError(f"Expected results of `{needed}` in each environment. Got none.")
    halves = results.assign(
        total=results["regret"].map(np.sum), late=results["regret"].map(lambda regret: regret[len(regret) // 2 :].sum())
    ).set_index(["label", "seed"])
    random = halves.loc["random", ["total", "late"]]
    table = []
    for label in dict.fromkeys(results["label"]):
        mine = halves.loc[label, ["total", "late"]]
        shared = mine.index.intersection(random.index)
        relative = mine.loc[shared].mean() / random.loc[shared].mean()
        low, high = mean_interval(mine["total"].to_numpy())
        pairs = (mine["total"] - halves.loc[against, "total"]).dropna()
        by_seed = pd.concat({"": pairs}, names=["environment"])
        difference = "" if label == against else "{:+.1f} [{:+.1f}, {:+.1f}]".format(*paired_interval(by_seed))
        row = (
            str(label),
            f"{mine['total'].mean():.1f} [{low:.1f}, {high:.1f}]",
            f"{relative['total']:.3f}",
            f"{relative['late']:.3f}",
            difference,
            str(len(mine)),
        )
        table.append((mine["total"].mean(), row))
    header = (
        "agent",
        "R_T [95 % interval]",
        "R_T / random",
        "its second half",
        f"R_T less that of {against} [95 %]",
        "seeds",
    )
    return [header, *(row for _, row in sorted(table))]


if __name__ == "__main__":
    try:
        sys.exit(tyro.cli(Command, description=__doc__).run())
    except (FileNotFoundError, ValueError) as error:
        sys.exit(f"benchmarks.sweeps.changing: {error}")
