"""`graph-bandit run`: play agents on one environment."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from graph_bandit_cli.options import ContinueFrom
from graph_bandit_cli.research.report import print_table
from graph_bandit_lab import EnvironmentSettings, RunSettings, describe_work, plan_run, run_experiment


@dataclass(frozen=True, kw_only=True)
class Command(RunSettings):
    """Settings of a run."""

    environment: Annotated[EnvironmentSettings, tyro.conf.arg(name="")]
    """The environment; its flags have no prefix. A default here would hide which of them were given."""
    continue_from: ContinueFrom = ()
    """Files of `graph-bandit export`, of this or other machines: their repetitions are taken, and not played."""
    dry_run: bool = False
    """Count what would be played, and play nothing."""

    def run(self) -> int:
        """Play what is missing, print the table and write the report."""
        if self.dry_run:
            how = self.diagnostics, self.retry_failed, self.continue_from
            print(describe_work(plan_run(self), self.out, *how))
            return 0
        try:
            tally = run_experiment(self)
        except KeyboardInterrupt:
            _say_what_is_kept(self.out)
            return 130
        if tally.reused:
            print(
                f"Found {tally.reused} repetitions in {self.out}, and played {tally.played}. "
                "(--overwrite plays all of them again.)"
            )
        _show(self.out)
        if tally.failed:
            print(f"\nFailed: {tally.failed} repetitions. --retry-failed plays them again.", file=sys.stderr)
        return 1 if tally.failed else 0


def _say_what_is_kept(folder: Path) -> None:
    from graph_bandit_lab.storage import FILE_NAME, ResultStore

    stored = len(ResultStore(folder).stored()) if (folder / FILE_NAME).is_file() else 0
    print(f"\nStopped. Repetitions stored in {folder}: {stored}. The same command goes on from there.", file=sys.stderr)
    if stored:
        _show(folder)


def _show(folder: Path) -> None:
    """Print the table of a folder and write its report."""
    from graph_bandit_lab import write_report

    page = write_report(folder)
    print_table(folder)
    print(f"\nReport: {page}")
