"""The command `graph-bandit`."""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
import tyro

import registry
from graph_bandit_lab.experiment import run_experiment
from graph_bandit_lab.report import describe, format_interval, format_ratio, write_report
from graph_bandit_lab.results import FILE_NAME, load_results
from graph_bandit_lab.settings import RunSettings
from graph_bandit_lab.statistics import play_equal_instances, summarize


@dataclass(frozen=True)
class ReportSettings:
    """Write the report of a folder again, from its stored results."""

    folder: tyro.conf.Positional[Path]
    """Folder that `graph-bandit run --out` wrote."""
    markdown: bool = False
    """Print the table too, in Markdown."""


@dataclass(frozen=True)
class AgentsSettings:
    """List the agents that are installed, or the settings of one."""

    name: tyro.conf.Positional[str | None] = None
    """Agent whose settings to explain."""


Command = (
    Annotated[RunSettings, tyro.conf.subcommand("run")]
    | Annotated[ReportSettings, tyro.conf.subcommand("report")]
    | Annotated[AgentsSettings, tyro.conf.subcommand("agents")]
)


def main(args: list[str] | None = None) -> int:
    """Run a command; return the exit code (0 done, 1 refused, 130 stopped by Ctrl-C)."""
    try:
        command = tyro.cli(Command, args=args, prog="graph-bandit", description="Graph action bandits.")
        if isinstance(command, RunSettings):
            return _run(command)
        if isinstance(command, ReportSettings):
            print(write_report(command.folder))
            if command.markdown:
                print("\n" + "\n".join(_markdown(_table(load_results(command.folder)))))
            return 0
        return _show_agents(command.name)
    except KeyboardInterrupt:
        print("\nStopped before anything began.", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError, sqlite3.Error) as error:
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
    rows = _table(results)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        print("  ".join([first.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(rest, widths[1:], strict=True))]))
    if not play_equal_instances(results):
        print("\nThe agents have not all played the same instances: run the missing repetitions before you compare.")
    print(f"\nReport: {page}")


def _table(results: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return header and rows of the summary, lowest mean first."""
    rows: list[tuple[str, ...]] = [
        ("agent", "mean R_T [95 % interval]", "relative to worst", "repetitions", "ms/round")
    ]
    for summary in summarize(results):
        diverged = f" (+{summary.diverged} diverged)" if summary.diverged else ""
        rows.append(
            (
                summary.label,
                format_interval(summary),
                format_ratio(summary.relative),
                f"{summary.finished}{diverged}",
                f"{summary.milliseconds:.1f}",
            )
        )
    return rows


def _markdown(rows: list[tuple[str, ...]]) -> list[str]:
    header, *body = [f"| {' | '.join(row)} |" for row in rows]
    return [header, "|" + "---|" * len(rows[0]), *body]


def _show_agents(name: str | None) -> int:
    if name is None:
        print("\n".join(registry.list_agents()))
        return 0
    settings = getattr(registry.make_agent(name), "settings", None)
    if not is_dataclass(settings):
        print(f"{name} does not tell its settings. Those you write after its name reach its factory as keywords.")
        return 0
    print(f"Settings of {name}. Write them after its name: {name}:setting=value,setting=value\n")
    for preset, values in getattr(settings, "presets", {}).items():
        listed = ", ".join(f"{key}={value}" for key, value in values.items())
        print(f"preset={preset} is short for {listed}. Other settings override it.\n")
    try:
        tyro.cli(type(settings), args=["--help"], prog=name)
    except SystemExit:  # how the parser leaves its help
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
