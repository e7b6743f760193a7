"""The command `graph-bandit`."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import tyro

from graph_bandit_campaign import SuggestSettings, suggest, write_library
from graph_bandit_cli.agents_help import describe_agent, describe_agents
from graph_bandit_cli.commands import (
    AgentsSettings,
    CompareSettings,
    LibraryCommand,
    ReportSettings,
    SweepCommand,
    TunedSettings,
)
from graph_bandit_lab.analysis.compare import compare_folders
from graph_bandit_lab.analysis.tuning import TUNED_NAME, table_of_choices, write_tuned
from graph_bandit_lab.design.settings import RunSettings
from graph_bandit_lab.design.sweep_file import Overrides, plan_sweep
from graph_bandit_lab.execution.executors import DaskExecutor, Processes, count_threads
from graph_bandit_lab.execution.experiment import run_experiment
from graph_bandit_lab.execution.sweep import LOG_NAME, describe_work, run_sweep
from graph_bandit_lab.reports.report import describe, title_of, write_report
from graph_bandit_lab.reports.tables import (
    print_columns,
    table_of,
    table_of_environments,
    to_markdown,
    warn_of_unequal_instances,
)
from graph_bandit_lab.storage.export import write_csv, write_parquet
from graph_bandit_lab.storage.results import FILE_NAME, load_results

Command = (
    Annotated[RunSettings, tyro.conf.subcommand("run")]
    | Annotated[SweepCommand, tyro.conf.subcommand("sweep")]
    | Annotated[ReportSettings, tyro.conf.subcommand("report")]
    | Annotated[TunedSettings, tyro.conf.subcommand("tuned")]
    | Annotated[CompareSettings, tyro.conf.subcommand("compare")]
    | Annotated[SuggestSettings, tyro.conf.subcommand("suggest")]
    | Annotated[LibraryCommand, tyro.conf.subcommand("library")]
    | Annotated[AgentsSettings, tyro.conf.subcommand("agents")]
)


def main(args: list[str] | None = None) -> int:
    """Run a command; return the exit code (0 done, 1 refused, 130 stopped by Ctrl-C)."""
    try:
        command = tyro.cli(Command, args=args, prog="graph-bandit", description="Graph action bandits.")
        if isinstance(command, RunSettings):
            return _run(command)
        if isinstance(command, ReportSettings):
            return _report(command)
        if isinstance(command, TunedSettings):
            return _tuned(load_results(command.folder, arrays=()), command.out)
        if isinstance(command, SweepCommand):
            return _sweep(command)
        if isinstance(command, CompareSettings):
            return _compare(command)
        if isinstance(command, SuggestSettings):
            suggest(command)
            return 0
        if isinstance(command, LibraryCommand):
            print("\n".join(map(str, write_library(command.out, command.property, command.measured, command.seed))))
            return 0
        print(describe_agents() if command.name is None else describe_agent(command.name))
        return 0
    except KeyboardInterrupt:
        print("\nStopped. What was finished is stored.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read has had enough: `graph-bandit agents | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except sqlite3.Error as error:
        print(f"graph-bandit: {error}. What was finished is stored; the same command goes on.", file=sys.stderr)
        return 1
    except (ValueError, OSError, ImportError) as error:
        print(f"graph-bandit: {error}", file=sys.stderr)
        return 1


def _run(settings: RunSettings) -> int:
    try:
        tally = run_experiment(settings)
    except KeyboardInterrupt:
        _say_what_is_kept(settings.out)
        return 130
    if tally.reused:
        print(
            f"Reused {tally.reused} repetitions that {settings.out} held already, played {tally.played}. "
            "(--overwrite plays all anew.)"
        )
    _show(settings.out)
    return 1 if tally.failed else 0


def _sweep(command: SweepCommand) -> int:
    overrides = Overrides(fit=command.fit, tuned=command.tuned, agents=command.agents, repetitions=command.repetitions)
    plan = plan_sweep(command.sweep, overrides)
    if command.workers < 0:
        raise ValueError(f"Expected `--workers` to be at least 0. Got {command.workers}.")
    here = command.workers or len(os.sched_getaffinity(0))
    workers = count_threads(command.scheduler) if command.scheduler else here
    if command.dry_run:
        print(describe_work(plan, command.out, workers, command.retry_failed))
        return 0
    open_workers = partial(DaskExecutor, command.scheduler) if command.scheduler else partial(Processes, workers)
    try:
        tally = run_sweep(plan, command.out, open_workers, command.retry_failed)
    except KeyboardInterrupt:
        print(f"\nStopped. {describe_work(plan, command.out, workers, command.retry_failed)}", file=sys.stderr)
        return 130
    print(
        f"{plan.title}: played {tally.played}, reused {tally.reused}, failed {tally.failed}."
        + (f" {command.out / LOG_NAME} has the tracebacks; --retry-failed plays them again." if tally.failed else "")
    )
    # In a process of its own: the one that drives stays small, however many repetitions there are.
    report = [sys.executable, "-m", "graph_bandit_cli.main", "report", str(command.out)]
    done = subprocess.run(report, check=False)  # noqa: S603 - which says itself what is wrong
    if plan.tunes:
        results = load_results(command.out, arrays=())
        _tuned(results[results["settings_hash"].isin(plan.settings_hashes)], command.out / TUNED_NAME)
    return 1 if tally.failed or done.returncode else 0


def _report(command: ReportSettings) -> int:
    print(write_report(command.folder))
    for path, write in ((command.csv, write_csv), (command.parquet, write_parquet)):
        if path is not None:
            write(command.folder, path)
            print(path)
    if command.markdown:
        results = load_results(command.folder, arrays=())
        print("\n".join(["", f"{title_of(results)}:", "", *to_markdown(table_of(results))]))
        if results["environment"].map(str).nunique() > 1:
            print("\n".join(["", *to_markdown(table_of_environments(results))]))
        warn_of_unequal_instances(results)
    return 0


def _tuned(results: pd.DataFrame, out: Path) -> int:
    choices, undecided = write_tuned(results, out)
    print_columns(table_of_choices(choices))
    for one in undecided:
        print(f"Nothing chosen for {one}: no two of its cells have finished the same trials.")
    print(f"\n{out}")
    return 0


def _say_what_is_kept(folder: Path) -> None:
    stored = len(load_results(folder)) if (folder / FILE_NAME).is_file() else 0
    print(f"\nStopped. Repetitions stored in {folder}: {stored}. The same command goes on from there.", file=sys.stderr)
    if stored:
        _show(folder)


def _show(folder: Path) -> None:
    """Print the table of a folder and write its report."""
    page = write_report(folder)
    results = load_results(folder)
    print(f"\n{describe(results['environment'].iloc[0])}\n")
    print_columns(table_of(results))
    warn_of_unequal_instances(results)
    print(f"\nReport: {page}")


def _compare(command: CompareSettings) -> int:
    rows: list[tuple[str, ...]] = [
        ("agent", "trials", "R_T before", "R_T after", "relative difference [95 % interval]", "")
    ]
    rows += [
        (
            change.label,
            str(change.trials),
            f"{change.before:.1f}",
            f"{change.after:.1f}",
            f"{change.difference:+.3f} [{change.low:+.3f}, {change.high:+.3f}]",
            change.verdict,
        )
        for change in compare_folders(command.before, command.after)
    ]
    print_columns(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
