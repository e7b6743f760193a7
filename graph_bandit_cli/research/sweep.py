"""`graph-bandit sweep`: play grids of environments and agents."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from graph_bandit_cli.options import ContinueFrom
from graph_bandit_cli.research.report import print_table
from graph_bandit_lab import describe_work, run_sweep
from graph_bandit_lab.design import Overrides, PlaySettings, SweepPlan, read_sweep
from graph_bandit_lab.execution import choose_workers

NONE = tyro.conf.arg(help_behavior_hint="(default: none)")  # for empty tuples, in `--help`


@dataclass(frozen=True, kw_only=True)
class Command(PlaySettings):
    """Settings of a sweep."""

    sweep: tyro.conf.Positional[str]
    """A TOML file, or a preset: quick, tune, paper-figure1, paper-table1 and others."""
    workers: int | None = 0
    """Processes, each on one thread; 0: one for each core; None: this process itself plays."""
    fit: Literal["steps", "passes"] = "steps"
    """Replaces {fit} in the agents of a preset: a fixed number of steps a round, or the paper's 30 passes."""
    continue_from: ContinueFrom = ()
    """Files of `graph-bandit export`, of this or other machines: their repetitions are taken, and not played."""
    tuned: Path | None = None
    """File of tuned settings, for {tuned} in the agents of a preset; None: the settings shipped for the fit."""
    agents: Annotated[tuple[str, ...], NONE] = ()
    """Agents instead of those of the sweep, on the same environments and seeds; `zoo` stands for all that can play."""
    admit: Annotated[tuple[str, ...], NONE] = ()
    """Agents of files, my_file:my_factory, that the sweep lists. Only those that you name are loaded: a sweep file runs
    no code by itself."""
    repetitions: int | None = None
    """Repetitions instead of those of the sweep; the first seeds stay the same."""
    environments: Annotated[tuple[str, ...], NONE] = ()
    """Only environments with these settings, such as num_graphs=10 (or K=10) and reward_model=linear,gp_gntk; or with
    these names, task=linear,noisy."""
    horizon: int | None = None
    """Rounds of every repetition instead of those of the sweep, to try it in a minute."""
    tables: Path | None = None
    """TOML file that says where the tables of the sweep lie; tasks of tables that are not in it are left out."""
    dry_run: bool = False
    """Count what would be played, and play nothing."""

    def run(self) -> int:
        """Play what is missing, write the report and print its table."""
        overrides = Overrides(
            fit=self.fit,
            tuned=self.tuned,
            agents=self.agents,
            admit=self.admit,
            repetitions=self.repetitions,
            environments=self.environments,
            horizon=self.horizon,
            tables=self.tables,
        )
        plan = read_sweep(self.sweep, overrides).plan()
        if self.dry_run:
            print(self._describe(plan))
            return 0
        open_workers, _ = choose_workers(self.workers, self.scheduler)
        how = {"diagnostics": self.diagnostics, "retry_failed": self.retry_failed, "progress": self.progress}
        try:
            tally = run_sweep(plan, self.out, open_workers, **how, continue_from=self.continue_from)
        except KeyboardInterrupt:
            print(f"\nStopped. {self._describe(plan)}", file=sys.stderr)
            return 130
        print_table(self.out)
        print(
            f"\n{plan.title}: played {tally.played}, reused {tally.reused}, failed {tally.failed}."
            + (f" Repetitions taken from files: {tally.taken}." if self.continue_from else "")
            + (
                f" {self.out / 'sweep.log'} has the tracebacks; --retry-failed plays them again."
                if tally.failed
                else ""
            )
        )
        print(f"Report: {tally.report}")
        if plan.tunes:
            self._tune(plan)
        return 1 if tally.failed else 0

    def _describe(self, plan: SweepPlan) -> str:
        return describe_work(plan, self.out, self.diagnostics, self.retry_failed, self.continue_from)

    def _tune(self, plan: SweepPlan) -> None:
        from graph_bandit_cli.research.tuned import choose_and_print
        from graph_bandit_lab import load_results
        from graph_bandit_lab.analysis import TUNED_NAME

        results, planned = load_results(self.out, arrays=()), {each.key.settings_hash for each in plan.repetitions}
        choose_and_print(results[results["settings_hash"].isin(planned)], self.out / TUNED_NAME)
