"""`graph-bandit tuned`: the best settings of a folder."""

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
    """Folder of results in which agents were played under many settings."""
    out: Path
    """The file, which is replaced. It has the best settings for each agent and graph model."""

    def run(self) -> int:
        """Choose and write."""
        from graph_bandit_lab import load_results

        choose_and_print(load_results(self.folder, arrays=()), self.out)
        return 0


def choose_and_print(results: pd.DataFrame, out: Path) -> None:
    """Write the best settings of results to a file, and print them."""
    from graph_bandit_lab.analysis import table_of_choices, write_tuned
    from graph_bandit_lab.reports import print_columns

    choices, undecided = write_tuned(results, out)
    print_columns(table_of_choices(choices))
    for one in undecided:
        print(f"Nothing chosen for {one}: no two of its cells have finished the same trials.")
    print(f"\n{out}")
