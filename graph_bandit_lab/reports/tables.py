"""Make tables for a terminal and for Markdown: header and rows of text."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from graph_bandit_lab.analysis.compare import Change
from graph_bandit_lab.analysis.paper import TABLE_1
from graph_bandit_lab.analysis.ranking import rank_agents, tasks_of
from graph_bandit_lab.analysis.scores import fields_of, score_agents
from graph_bandit_lab.analysis.statistics import earlier_versions, play_equal_instances, summarize
from graph_bandit_lab.formats import (
    MISSING,
    format_count,
    format_interval,
    format_number,
    format_ratio,
    format_relative,
    format_share,
    format_spread,
)
from graph_bandit_lab.reports.findings import DIGITS, NAMES, SIMPLE_REGRET, findings_of_run, findings_of_sweep
from graph_bandit_lab.reports.sweep_report import (
    differences_to_the_best,
    environment_names,
    mean_table,
    order_agents,
    rows_of_aggregates,
    rows_of_failures,
    rows_of_ranking,
)


def table_of(results: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return header and rows of the summary, lowest mean first."""
    if results["environment_key"].nunique() > 1:
        ranking = rank_agents(results, tasks_of(results))
        return _table_of_sweep(results) if ranking is None else rows_of_ranking(ranking)
    findings = findings_of_run(results)
    columns = ["simple regret [95 % interval]", "top 1 %"] if findings else []
    rows: list[tuple[str, ...]] = [
        ("agent", "mean R_T [95 % interval]", "relative to worst [95 %]", *columns, "repetitions", "ms/round")
    ]
    rows += [
        (
            summary.label,
            format_interval(summary),
            format_relative(summary),
            *findings.get(summary.label, ()),
            format_count(summary),
            format_number(summary.milliseconds),
        )
        for summary in summarize(results)
    ]
    return rows


def further_tables(results: pd.DataFrame) -> list[list[tuple[str, ...]]]:
    """Return the tables of a sweep that follow the first: on each task, over all trials, on each environment."""
    if results["environment_key"].nunique() == 1:
        return []
    has_findings = results["final_simple_regret"].notna().any()
    measures = ("total_regret", "final_simple_regret") if has_findings else ("total_regret",)
    aggregates = [rows_of_aggregates(field) for field in fields_of(results) if len(field.trials)]
    return [
        *_tables_of_tasks(results),
        *aggregates,
        *(_table_of_environments(results, measure) for measure in measures),
    ]


def _tables_of_tasks(results: pd.DataFrame) -> list[list[tuple[str, ...]]]:
    """Return shares of random play's R_T, simple regret, times and failures, if agents can be ranked over tasks."""
    ranking = rank_agents(results, tasks_of(results))
    if ranking is None:
        return []
    measures = (
        ("R_T / random", ranking.shares, 2),
        (NAMES[SIMPLE_REGRET], ranking.simple_regret, DIGITS[SIMPLE_REGRET]),
        ("ms a round", ranking.milliseconds, 1),
    )
    tables = [
        [(what, *map(str, table)), *(_row_of_task(name, row, digits) for name, row in table.iterrows())]
        for what, table, digits in measures
        if len(table)
    ]
    hard: list[tuple[str, ...]] = [("task", "what makes it hard"), *ranking.hard.items()]
    return [*tables, rows_of_failures(ranking), hard]


def _row_of_task(name: object, row: pd.Series[float], digits: int) -> tuple[str, ...]:
    return str(name), *(format_number(value, digits) for value in row)


def _table_of_sweep(results: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return header and rows of the scores over environments, best first."""
    fields = fields_of(results)
    paper = any(field.paper for field in fields)
    theirs = ["the paper's Table 1"] if paper else []
    best = f"less the best{' of the six' if paper else ''} [95 % interval]"
    findings = findings_of_sweep(results)
    columns = ["relative simple regret", "top 1 %"] if any(findings) else []
    rows: list[tuple[str, ...]] = [
        ("agent", "relative regret (sd)", "top rate", *theirs, best, *columns, "environments", "trials")
    ]
    for field, texts in zip(fields, findings, strict=True):
        scores = score_agents(field.trials, field.reference)
        differences = differences_to_the_best(field, scores)
        for score in scores:
            published = TABLE_1[field.paper[score.label]] if score.label in field.paper else None
            theirs = [
                f"{format_ratio(published.relative)}, {format_share(published.top_rate)}" if published else ""
            ] * paper
            mine = score.label, format_spread(score.relative, score.relative_sd), format_share(score.top_rate)
            finds = texts.get(score.label, (MISSING,) * len(columns))
            counts = str(score.environments), str(score.trials)
            rows.append((*mine, *theirs, differences[score.label], *finds, *counts))
    return rows


def _table_of_environments(results: pd.DataFrame, measure: str) -> list[tuple[str, ...]]:
    """Return header and rows of the mean of a measure on each environment, with the best agents first."""
    names = environment_names(results)
    scored = [(field, score_agents(field.trials, field.reference)) for field in fields_of(results)]
    ranking = rank_agents(results, tasks_of(results))
    means = mean_table(results, order_agents(results, scored, ranking), measure)
    rows: list[tuple[str, ...]] = [(f"mean {NAMES[measure]}", *map(str, means))]
    for key, row in zip(means.index, means.to_numpy(), strict=True):
        rows.append((names[key], *(format_number(value, DIGITS[measure]) for value in row)))
    return rows


def table_of_changes(changes: Sequence[Change], measure: str = "total_regret") -> list[tuple[str, ...]]:
    """Return header and rows of the changes of a measure between two folders."""
    name, digits = NAMES[measure], DIGITS[measure]
    rows: list[tuple[str, ...]] = [
        ("agent", "trials", f"{name} before", f"{name} after", "relative difference [95 % interval]", "")
    ]
    for change in changes:
        means = format_number(change.before, digits), format_number(change.after, digits)
        interval = f"{change.difference:+.3f} [{change.low:+.3f}, {change.high:+.3f}]"
        rows.append((change.label, str(change.trials), *means, interval, change.verdict))
    return rows


def print_warnings(results: pd.DataFrame) -> None:
    """Warn if agents have not played the same instances, or if earlier versions of their algorithms have played."""
    if not play_equal_instances(results):
        print("\nThe agents have not all played the same instances: run the missing repetitions before you compare.")
    for label in earlier_versions(results):
        print(f"\n{label} was played by an earlier version of the agent's algorithm, and is not continued.")
