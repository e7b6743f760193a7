"""Read a folder of results: `graph-bandit report`, `export`, `compare` and `best-settings`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    import pandas as pd

NONE = tyro.conf.arg(help_behavior_hint="(default: none)")  # for empty tuples, in `--help`


@dataclass(frozen=True)
class ReportOptions:
    """Settings of a report."""

    folder: tyro.conf.Positional[Path]
    """Folder of results, the `--out` of a run or a sweep."""
    table: bool = False
    """Also print the table."""
    markdown: bool = False
    """Also print the table in Markdown, and for a sweep one table for each environment."""
    at: Annotated[tuple[int, ...], NONE] = ()
    """Also print regret and findings after these rounds, such as `--at 20 50 100`."""
    chance: Annotated[tuple[str, ...], NONE] = ()
    """Also print R_T of these agents relative to uniform play, and the highest R_T of all agents. The expected R_T of
    uniform play is computed. `worse` marks agents that are worse by Holm's test over all of them. Graphs must be drawn,
    not read from a file."""
    csv: Path | None = None
    """CSV file to write with a row for each repetition and a column for each setting."""
    parquet: Path | None = None
    """Apache Parquet file to write, with actions, rewards, regret and findings of each round. It needs the extra
    `parquet`."""
    jsonl: Path | None = None
    """File to write with a JSON object on a line for each round of each repetition."""
    tensorboard: Path | None = None
    """Folder to write for TensorBoard, with a subfolder for each repetition. It needs the extra `tensorboard`."""


def report(options: ReportOptions) -> None:
    """Write the page and the requested files and tables."""
    import graph_bandit_lab as lab
    from graph_bandit_lab.reports import print_columns

    print(lab.write_report(options.folder))
    writers = {"csv": lab.write_csv, "parquet": lab.write_parquet, "jsonl": lab.write_json_lines}
    for name, write in (writers | {"tensorboard": lab.write_tensorboard}).items():
        if (path := getattr(options, name)) is not None:
            write(options.folder, path)
            print(path)
    if options.table:
        print_tables(options.folder)
    if options.markdown:
        print_tables(options.folder, markdown=True)
    tables = []
    if options.chance:
        tables.append(lab.table_of_chance(lab.load_results(options.folder, arrays=()), options.chance))
    if options.at:
        results = lab.load_results(options.folder, arrays=("regret", "simple_regret", "best_found"))
        tables += lab.tables_of_rounds(results, options.at)
    for rows in tables:
        print()
        print_columns(rows, markdown=options.markdown)


def print_tables(folder: Path, *, markdown: bool = False) -> None:
    """Print title, table and warnings of a folder of results, and in Markdown also the further tables of a sweep."""
    from graph_bandit_lab import further_tables, load_results, print_warnings, table_of, title_of
    from graph_bandit_lab.reports import print_columns

    results = load_results(folder, arrays=())
    print(f"\n{title_of(results)}")
    for rows in (table_of(results), *(further_tables(results) if markdown else ())):
        print()
        print_columns(rows, markdown=markdown)
    print_warnings(results)


@dataclass(frozen=True)
class ExportOptions:
    """Settings of an export."""

    folder: tyro.conf.Positional[Path]
    """Folder of results, the `--out` of a run or a sweep. It is only read, also while something plays into it."""
    out: Path
    """File to write, for `--continue` of a run or a sweep. An earlier export is replaced."""


def export(options: ExportOptions) -> None:
    """Write all finished repetitions to one small file, and print its size and omissions."""
    from graph_bandit_lab.storage import export_results

    exported = export_results(options.folder, options.out)
    print(f"{exported.path}: {exported.repetitions:,} repetitions, {exported.path.stat().st_size / 1e3:,.0f} kB")
    if exported.failed:
        print(f"Left out, because they have failed: {exported.failed}.")


@dataclass(frozen=True)
class CompareOptions:
    """Settings of a comparison."""

    before: tyro.conf.Positional[Path]
    """Folder of results before the change."""
    after: tyro.conf.Positional[Path]
    """Folder of results after the change. Trials are paired by environment and seed."""


def compare(options: CompareOptions) -> None:
    """Print a row for each agent with R_T, and a second table with simple regret if both folders have it."""
    from graph_bandit_lab import table_of_changes
    from graph_bandit_lab.analysis import compare_folders
    from graph_bandit_lab.reports import print_columns

    print_columns(table_of_changes(compare_folders(options.before, options.after)))
    if changes := compare_folders(options.before, options.after, "final_simple_regret"):
        print()
        print_columns(table_of_changes(changes, "final_simple_regret"))


@dataclass(frozen=True)
class BestSettingsOptions:
    """Settings of the choice."""

    folder: tyro.conf.Positional[Path]
    """Folder of results of agents with many settings each."""
    out: Path
    """File for the best settings of each agent on each graph model. An existing file is replaced."""


def best_settings(options: BestSettingsOptions) -> None:
    """Choose the best settings, write them, and print them."""
    from graph_bandit_lab import load_results

    choose_and_print(load_results(options.folder, arrays=()), options.out)


def choose_and_print(results: pd.DataFrame, out: Path) -> None:
    """Write the best settings of results to a file, and print them."""
    from graph_bandit_lab.analysis import table_of_choices, write_tuned
    from graph_bandit_lab.reports import print_columns

    choices, undecided = write_tuned(results, out)
    print_columns(table_of_choices(choices))
    for agent in undecided:
        print(f"No settings chosen for {agent}: no two of its cells have finished the same trials.")
    print(f"\n{out}")
