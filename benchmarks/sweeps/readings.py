"""Play readings of the paper's algorithm, and see whose regret bends: python -m benchmarks.sweeps.readings FILE FOLDER.

FILE is a sweep in TOML. Besides the agents of the registry it may name those of `benchmarks.sweeps.limit`. Repetitions
that the folder holds are not played again; `--no-play` only prints the table.

Where regret grows in proportion to t, the second half of the rounds costs as much as the first: a ratio of 1. Where it
grows as sqrt(t), the ratio is sqrt(2) - 1 = 0.41.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import tyro

from benchmarks.sweeps.limit import register
from graph_bandit_lab import load_results, read_sweep, run_sweep
from graph_bandit_lab.design import name_environments
from graph_bandit_lab.reports import print_columns


@dataclass(frozen=True, kw_only=True)
class Command:
    """What to play, and where to keep it."""

    sweep: tyro.conf.Positional[Path]
    """Sweep file."""
    folder: tyro.conf.Positional[Path]
    """Folder of results."""
    play: bool = True
    """Play what is missing; else only print the table."""
    markdown: bool = False
    """Print the tables in Markdown."""

    def run(self) -> int:
        """Play, and print a table for each environment."""
        register()
        plan = read_sweep(self.sweep).plan()
        if self.play:
            run_sweep(plan, self.folder, report=False)
        results = load_results(self.folder, arrays=("actions", "regret"))
        results = results[results["status"] == "finished"]
        firsts = results.drop_duplicates("environment_key")
        order = list(dict.fromkeys(repetition.label for repetition in plan.repetitions))
        for key, name in zip(firsts["environment_key"], name_environments(list(firsts["environment"])), strict=True):
            rows = bends(results[results["environment_key"] == key], order)
            print(f"\n{name}\n")
            print_columns(rows, markdown=self.markdown)
        return 0


def bends(results: pd.DataFrame, order: list[str]) -> list[tuple[str, ...]]:
    """Return header and rows of a table of one environment.

    Args:
        results: of `load_results`, finished, with actions and regret.
        order: the labels, as the rows are to follow each other; those without results are left out.
    """
    header = (
        "reading",
        "R_T (sd)",
        "second half / first",
        "best graph in the last tenth",
        "settled on another",
        "seeds",
    )
    rows: list[tuple[str, ...]] = [header]
    for label in order:
        mine = results[results["label"] == label]
        if mine.empty:
            continue
        total = mine["regret"].map(np.sum)
        halves = [np.sum([regret[part] for regret in mine["regret"]]) for part in _halves(len(mine["regret"].iloc[0]))]
        ends = [regret[-max(1, len(regret) // 10) :] for regret in mine["regret"]]
        late = [actions[len(actions) // 2 :] for actions in mine["actions"]]
        stuck = [len(np.unique(a)) == 1 and regret[-1] > 0 for a, regret in zip(late, mine["regret"], strict=True)]
        rows.append(
            (
                label,
                f"{total.mean():.1f} ({total.std(ddof=1) if len(mine) > 1 else 0:.1f})",
                f"{halves[1] / halves[0]:.2f}" if halves[0] else "",
                f"{np.mean([np.mean(end == 0) for end in ends]):.0%}",
                f"{sum(stuck)} of {len(mine)}",
                str(len(mine)),
            )
        )
    return rows


def _halves(horizon: int) -> tuple[slice, slice]:
    return slice(0, horizon // 2), slice(horizon - horizon // 2, horizon)


if __name__ == "__main__":
    try:
        sys.exit(tyro.cli(Command, description=__doc__).run())
    except (FileNotFoundError, ValueError) as error:
        sys.exit(f"benchmarks.sweeps.readings: {error}")
