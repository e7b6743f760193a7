"""`graph-bandit compare`: compare two folders, before and after a change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class Command:
    """Settings of a comparison."""

    before: tyro.conf.Positional[Path]
    """Folder of results before the change."""
    after: tyro.conf.Positional[Path]
    """Folder of results after it. Trials are paired on equal environments and seeds."""

    def run(self) -> int:
        """Print a line for each agent: its R_T, and in a second table its simple regret, if both folders have it."""
        from graph_bandit_lab import table_of_changes
        from graph_bandit_lab.analysis import compare_folders
        from graph_bandit_lab.reports import print_columns

        print_columns(table_of_changes(compare_folders(self.before, self.after)))
        changes = compare_folders(self.before, self.after, "final_simple_regret")
        if changes:
            print()
            print_columns(table_of_changes(changes, "final_simple_regret"))
        return 0
