"""`graph-bandit report`: write page, figures and tables of a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

NONE = tyro.conf.arg(help_behavior_hint="(default: none)")  # for empty tuples, in `--help`


@dataclass(frozen=True)
class Command:
    """Settings of a report."""

    folder: tyro.conf.Positional[Path]
    """Folder of results, the `--out` of a run or a sweep."""
    table: bool = False
    """Also print the table."""
    markdown: bool = False
    """Also print the table in Markdown, and for a sweep a table of every environment."""
    at: Annotated[tuple[int, ...], NONE] = ()
    """Also print what agents had paid and found by the end of these rounds, such as `--at 20 50 100`."""
    chance: Annotated[tuple[str, ...], NONE] = ()
    """Also print R_T of these agents relative to uniform play, which is computed, and the highest R_T of all agents.
    `worse` marks agents that are worse, by Holm's test over all of them. Graphs must be drawn, not read from a file."""
    csv: Path | None = None
    """Also write a row for each repetition to this file, with a column for each setting."""
    parquet: Path | None = None
    """The same as an Apache Parquet file, with actions, rewards, regret and what was found of each round (the extra
    `parquet`)."""
    jsonl: Path | None = None
    """Also write a JSON object a line to this file for each round of each repetition."""
    tensorboard: Path | None = None
    """Also write each repetition into a folder of its own under this one, for TensorBoard (the extra `tensorboard`)."""

    def run(self) -> int:
        """Write the page, and the files and tables that are asked for."""
        from graph_bandit_lab import write_csv, write_json_lines, write_parquet, write_report, write_tensorboard

        print(write_report(self.folder))
        for path, write in (
            (self.csv, write_csv),
            (self.parquet, write_parquet),
            (self.jsonl, write_json_lines),
            (self.tensorboard, write_tensorboard),
        ):
            if path is not None:
                write(self.folder, path)
                print(path)
        if self.table:
            print_table(self.folder)
        if self.markdown:
            self._print_markdown()
        if self.chance:
            self._print_chance()
        if self.at:
            self._print_rounds()
        return 0

    def _print_markdown(self) -> None:
        from graph_bandit_lab import further_tables, load_results, print_warnings, table_of, title_of
        from graph_bandit_lab.reports import print_columns

        results = load_results(self.folder, arrays=())
        print(f"\n{title_of(results)}:")
        for rows in (table_of(results), *further_tables(results)):
            print()
            print_columns(rows, markdown=True)
        print_warnings(results)

    def _print_chance(self) -> None:
        from graph_bandit_lab import load_results, table_of_chance
        from graph_bandit_lab.reports import print_columns

        print()
        print_columns(table_of_chance(load_results(self.folder, arrays=()), self.chance), markdown=self.markdown)

    def _print_rounds(self) -> None:
        from graph_bandit_lab import load_results, tables_of_rounds
        from graph_bandit_lab.reports import print_columns

        results = load_results(self.folder, arrays=("regret", "simple_regret", "best_found"))
        for rows in tables_of_rounds(results, self.at):
            print()
            print_columns(rows, markdown=self.markdown)


def print_table(folder: Path) -> None:
    """Print title, table and warnings of a folder of results."""
    from graph_bandit_lab import load_results, print_warnings, table_of, title_of
    from graph_bandit_lab.reports import print_columns

    results = load_results(folder, arrays=())
    print(f"\n{title_of(results)}\n")
    print_columns(table_of(results))
    print_warnings(results)
