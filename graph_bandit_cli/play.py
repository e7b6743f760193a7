"""Play agents and report: `graph-bandit run` on one environment, `graph-bandit sweep` on grids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import tyro

from graph_bandit_cli.results import choose_and_print, print_tables
from graph_bandit_lab import EnvironmentSettings, RunSettings, describe_work, plan_run, run_experiment, run_sweep
from graph_bandit_lab.design import Overrides, PlaySettings, read_sweep
from graph_bandit_lab.execution import choose_workers


@dataclass(frozen=True, kw_only=True)
class RunOptions(RunSettings):
    """Settings of a run."""

    environment: Annotated[EnvironmentSettings, tyro.conf.arg(name="")]
    """The environment. Its flags have no prefix. There is no default, so that given flags can be detected."""
    dry_run: bool = False
    """Print the number of repetitions to play without playing them."""


@dataclass(frozen=True, kw_only=True)
class SweepOptions(Overrides, PlaySettings):
    """Settings of a sweep."""

    sweep: tyro.conf.Positional[str]
    """TOML file, or a preset such as quick, tune, paper-figure1 or paper-table1."""
    workers: int | None = 0
    """Number of processes, each on one thread. 0: one for each core. None: only this process."""
    dry_run: bool = False
    """Print the number of repetitions to play without playing them."""


def play(options: RunOptions | SweepOptions) -> int:
    """Play the missing repetitions, print the table, write the report, and return 1 if a repetition has failed."""
    plan = plan_run(options) if isinstance(options, RunOptions) else read_sweep(options.sweep, options).plan()
    again = {"diagnostics": options.diagnostics, "retry_failed": options.retry_failed}
    describe = partial(describe_work, plan, options.out, **again, continue_from=options.continue_from)
    if options.dry_run:
        print(describe())
        return 0
    try:
        if isinstance(options, RunOptions):
            tally = run_experiment(options)
        else:
            open_workers, _ = choose_workers(options.workers, options.scheduler)
            how = {**again, "progress": options.progress, "report": False}
            tally = run_sweep(plan, options.out, open_workers, **how, continue_from=options.continue_from)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{describe()}\nThe same command continues.") from None
    from graph_bandit_lab import load_results, write_report
    from graph_bandit_lab.analysis import TUNED_NAME

    page = write_report(options.out)
    print_tables(options.out)
    summary = [f"\n{plan.title}: played {tally.played}, reused {tally.reused}, failed {tally.failed}."]
    if options.continue_from:
        summary.append(f"Repetitions taken from files: {tally.taken}.")
    if tally.failed:
        summary.append(f"{options.out / 'sweep.log'} has the tracebacks. Use --retry-failed to repeat them.")
    print(*summary)
    print(f"Report: {page}")
    if plan.tunes:
        results, planned = load_results(options.out, arrays=()), {each.key.settings_hash for each in plan.repetitions}
        choose_and_print(results[results["settings_hash"].isin(planned)], options.out / TUNED_NAME)
    return 1 if tally.failed else 0
