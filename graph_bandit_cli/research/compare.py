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
        """Print a line for each agent."""
        from graph_bandit_lab import compare_folders
        from graph_bandit_lab.reports import print_columns, table_of_changes

        print_columns(table_of_changes(compare_folders(self.before, self.after)))
        return 0
