"""`graph-bandit sweep`: play grids of environments and agents."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from graph_bandit_cli.options import ContinueFrom
from graph_bandit_lab.design import Overrides, PlaySettings, SweepPlan, read_sweep
from graph_bandit_lab.execution import LOG_NAME, Workers, choose_workers, describe_work, plan_sweep, run_sweep

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
    """Say what there is to play and about how long it takes. What is not timed yet is tried for about 90 seconds."""
    cluster: int = 100
    """Cores of a cluster for which `--dry-run` gives the time too."""

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
        in_process = self.workers is None and self.scheduler is None  # this process plays, and imports torch anyway
        plan = read_sweep(self.sweep, overrides).plan() if in_process else plan_sweep(self.sweep, overrides)
        open_workers, workers = choose_workers(self.workers, self.scheduler)
        if self.dry_run:
            print(self._describe(plan, workers, open_workers))
            return 0
        how = {"diagnostics": self.diagnostics, "retry_failed": self.retry_failed, "progress": self.progress}
        files = self.continue_from
        try:
            tally = run_sweep(plan, self.out, open_workers, **how, report=False, continue_from=files)
        except KeyboardInterrupt:
            print(f"\nStopped. {self._describe(plan, workers)}", file=sys.stderr)
            return 130
        print(
            f"{plan.title}: played {tally.played}, reused {tally.reused}, failed {tally.failed}."
            + (f" Repetitions taken from files: {tally.taken}." if files else "")
            + (f" {self.out / LOG_NAME} has the tracebacks; --retry-failed plays them again." if tally.failed else "")
            + " The page is being drawn.",
            flush=True,
        )
        # In a separate process, so that the driver stays small, however many repetitions there are. It has the path of
        # this one: without -P the working folder would come first, with any packages there that have our names.
        report = [sys.executable, "-P", "-m", "graph_bandit_cli", "report", str(self.out), "--table"]
        path = {**os.environ, "PYTHONPATH": os.pathsep.join(folder or os.getcwd() for folder in sys.path)}
        done = subprocess.run(report, env=path, check=False)  # noqa: S603 - it reports its own errors
        if plan.tunes:
            self._tune(plan)
        return 1 if tally.failed or done.returncode else 0

    def _describe(self, plan: SweepPlan, workers: int, open_workers: Callable[[], Workers] | None = None) -> str:
        """Say how much there is to play; workers time a few rounds where nothing is stored."""
        play = self.diagnostics, self.retry_failed
        files = self.continue_from
        return describe_work(plan, self.out, workers, *play, open_workers, self.cluster, self.progress, files)

    def _tune(self, plan: SweepPlan) -> None:
        from graph_bandit_cli.research.tuned import choose_and_print
        from graph_bandit_lab import load_results
        from graph_bandit_lab.analysis import TUNED_NAME

        results = load_results(self.out, arrays=())
        choose_and_print(results[results["settings_hash"].isin(plan.settings_hashes)], self.out / TUNED_NAME)
