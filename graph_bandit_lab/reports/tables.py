"""Tables for a terminal and for Markdown: header and rows of text."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from graph_bandit_lab.analysis.paper import TABLE_1
from graph_bandit_lab.analysis.scores import fields_of, mean_regrets, score_agents
from graph_bandit_lab.analysis.statistics import count_repetitions, play_equal_instances, summarize
from graph_bandit_lab.reports.panels import name_environments
from graph_bandit_lab.reports.report import format_interval, format_ratio
from graph_bandit_lab.reports.sweep_report import differences_to_the_best


def print_columns(rows: list[tuple[str, ...]]) -> None:
    """Print rows in columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        print("  ".join([first.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(rest, widths[1:], strict=True))]))


def table_of(results: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return header and rows of the summary, lowest mean first."""
    if len({str(environment) for environment in results["environment"]}) > 1:
        return _table_of_sweep(results)
    rows: list[tuple[str, ...]] = [
        ("agent", "mean R_T [95 % interval]", "relative to worst", "repetitions", "ms/round")
    ]
    rows += [
        (
            summary.label,
            format_interval(summary),
            format_ratio(summary.relative),
            count_repetitions(summary),
            f"{summary.milliseconds:.1f}",
        )
        for summary in summarize(results)
    ]
    return rows


def _table_of_sweep(results: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return header and rows of the scores over environments, best first."""
    fields = fields_of(results)
    paper = any(field.paper for field in fields)
    theirs = ["the paper's Table 1"] if paper else []
    best = f"less the best{' of the six' if paper else ''} [95 % interval]"
    rows: list[tuple[str, ...]] = [
        ("agent", "relative regret (sd)", "top rate", *theirs, best, "environments", "trials")
    ]
    for field in fields:
        scores = score_agents(field.trials, field.reference)
        differences = differences_to_the_best(field, scores)
        for score in scores:
            published = TABLE_1[field.paper[score.label]] if score.label in field.paper else None
            theirs = [f"{published.relative:.3f}, {100 * published.top_rate:.1f} %" if published else ""] * paper
            mine = score.label, f"{score.relative:.3f} ({score.relative_sd:.3f})", f"{100 * score.top_rate:.1f} %"
            rows.append((*mine, *theirs, differences[score.label], str(score.environments), str(score.trials)))
    return rows


def table_of_environments(results: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return header and rows of mean R_T on each environment, agents as the scores rank them."""
    keys = results["environment"].map(lambda one: json.dumps(one, sort_keys=True))
    kept = list(dict.fromkeys(keys))
    names = name_environments([json.loads(key) for key in kept])
    fields = fields_of(results)
    ranked = [score.label for field in fields for score in score_agents(field.trials, field.reference)]
    order = list(dict.fromkeys([*ranked, *results["label"]]))
    means = mean_regrets(fields).reindex(index=kept, columns=order)
    rows: list[tuple[str, ...]] = [("mean R_T", *order)]
    for key, name in zip(kept, names, strict=True):
        values = [float(means.loc[key, label]) for label in order]
        rows.append((name, *("–" if np.isnan(value) else f"{value:.1f}" for value in values)))
    return rows


def to_markdown(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a Markdown table."""
    header, *body = [f"| {' | '.join(row)} |" for row in rows]
    return [header, "|" + "---|" * len(rows[0]), *body]


def warn_of_unequal_instances(results: pd.DataFrame) -> None:
    """Say so, if agents cannot be compared as they stand."""
    if not play_equal_instances(results):
        print("\nThe agents have not all played the same instances: run the missing repetitions before you compare.")
