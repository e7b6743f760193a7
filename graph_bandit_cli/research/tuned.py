"""`graph-bandit tuned`: write the best settings of a folder to a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Command:
    """Settings of the choice."""

    folder: tyro.conf.Positional[Path]
    """Folder of results of agents with many settings each."""
    out: Path
    """File for the best settings of each agent on each graph model; it is replaced."""

    def run(self) -> int:
        """Choose the settings and write them."""
        from graph_bandit_lab import load_results

        choose_and_print(load_results(self.folder, arrays=()), self.out)
        return 0


def choose_and_print(results: pd.DataFrame, out: Path) -> None:
    """Write the best settings of results to a file, and print them."""
    from graph_bandit_lab.analysis import table_of_choices, write_tuned
    from graph_bandit_lab.reports import print_columns

    choices, undecided = write_tuned(results, out)
    print_columns(table_of_choices(choices))
    for agent in undecided:
        print(f"No settings chosen for {agent}: no two of its cells have finished the same trials.")
    print(f"\n{out}")
