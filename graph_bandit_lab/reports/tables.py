"""Make tables for a terminal, for Markdown and for pages: header and rows of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import pandas as pd

from graph_bandit_lab.analysis.aggregates import aggregate_agents
from graph_bandit_lab.analysis.ranking import Ranking, name_tasks, rank_agents
from graph_bandit_lab.analysis.scores import (
    TABLE_1,
    Change,
    Field,
    compare_agents,
    compare_with_chance,
    fields_of,
    score_agents,
)
from graph_bandit_lab.analysis.statistics import LEAST, Quantity, earlier_versions, play_equal_instances, summarize
from graph_bandit_lab.design.names import name_environments
from graph_bandit_lab.formats import (
    MISSING,
    format_count,
    format_duration,
    format_estimate,
    format_interval,
    format_number,
    format_relative,
    format_share,
)

Rows: TypeAlias = list[tuple[str, ...]]
SIMPLE_REGRET, TOP_RECALL = "final_simple_regret", "final_top_recall"
NAMES = {"total_regret": "R_T", SIMPLE_REGRET: "simple regret"}
DIGITS = {"total_regret": 1, SIMPLE_REGRET: 3}
OF_ROUNDS: Mapping[str, tuple[str, int, Quantity]] = {  # column of arrays, its name in a table, digits, and quantity
    "cumulative_regret": ("R_t", 1, "nonnegative"),
    "simple_regret": ("simple regret", 3, "nonnegative"),
    "best_found": ("best found", 3, "any"),
}


def table_of(results: pd.DataFrame) -> Rows:
    """Return header and rows of the summary, the best agent first."""
    if results["environment_key"].nunique() == 1:
        return table_of_run(results)
    ranking = rank_agents(results)
    if ranking is not None:
        return rows_of_ranking(ranking)
    tables = tables_of_fields(results)
    return [tables[0][0], *(row for table in tables for row in table[1:])]


def further_tables(results: pd.DataFrame) -> list[Rows]:
    """Return the tables of a sweep that follow the first: on each task, over all trials, on each environment."""
    if results["environment_key"].nunique() == 1:
        return []
    tables: list[Rows] = []
    ranking = rank_agents(results)
    if ranking is not None:
        for what, table, digits in tables_of_tasks(ranking):
            cells = [(str(name), *(format_number(value, digits) for value in row)) for name, row in table.iterrows()]
            tables.append([(what, *map(str, table)), *cells])
        tables += [rows_of_failures(ranking), [("task", "difficulty"), *ranking.hard.items()]]
    tables += [rows_of_aggregates(field) for field in fields_of(results) if len(field.trials)]
    names, order = environment_names(results), order_agents(results, ranking)
    for measure, digits in DIGITS.items():
        if results[measure].notna().any() or measure == "total_regret":
            means = mean_table(results, order, measure)
            cells = [
                (names[str(key)], *(format_number(value, digits) for value in row)) for key, row in means.iterrows()
            ]
            tables.append([(f"mean {NAMES[measure]}", *map(str, means)), *cells])
    return tables


def table_of_run(results: pd.DataFrame) -> Rows:
    """Return header and rows of the summary of one environment, lowest mean first."""
    found = bool(results[SIMPLE_REGRET].notna().any())
    simple = {summary.label: replace(summary, one_trajectory=False) for summary in summarize(results, SIMPLE_REGRET)}
    top = {summary.label: format_share(summary.mean) for summary in summarize(results, TOP_RECALL, "share")}
    columns = ("simple regret [95 % interval]", "top 1 %")[: 2 * found]
    rows: Rows = [
        ("agent", "mean R_T [95 % interval]", "relative to worst [95 %]", *columns, "repetitions", "ms/round")
    ]
    for summary in summarize(results):
        finds = MISSING, MISSING
        if simple[summary.label].finished:
            finds = format_interval(simple[summary.label], DIGITS[SIMPLE_REGRET]), top[summary.label]
        known = format_interval(summary), format_relative(summary), *finds[: 2 * found]
        rows.append((summary.label, *known, format_count(summary), format_number(summary.milliseconds)))
    return rows


def tables_of_fields(results: pd.DataFrame) -> list[Rows]:
    """Return a table for each of the `fields_of` results, with the scores of its agents over environments, best first.

    All tables share one header.
    """
    fields = fields_of(results)
    paper, found = any(field.paper for field in fields), bool(results[SIMPLE_REGRET].notna().any())
    difference = f"difference from the best{' of the six' * paper} [95 % interval]"
    columns = [*["the paper's Table 1"] * paper, difference, *["relative simple regret", "top 1 %"] * found]
    counts = {summary.label: format_count(summary) for summary in summarize(results)}
    times = results.groupby("label")["wall_time"].sum().map(format_duration)
    tables = []
    for field, simple, top in zip(
        fields, fields_of(results, SIMPLE_REGRET), fields_of(results, TOP_RECALL), strict=True
    ):
        counted = "environments", "trials", "repetitions", "core time"
        rows: Rows = [("agent", "relative regret (sd)", "top rate", *columns, *counted)]
        shares = top.trials.groupby(level="environment").mean().mean().map(format_share)
        finds = {
            score.label: (format_number(score.relative, 3), shares[score.label])
            for score in score_agents(simple.trials, simple.reference)
        }
        scores = score_agents(field.trials, field.reference)
        best = next((score.label for score in scores if score.label in field.reference), "")
        for score in scores:
            label, theirs = score.label, TABLE_1.get(field.paper.get(score.label, ""))
            versus = compare_agents(field.trials, label, best, field.reference)
            difference = format_estimate(versus.difference, versus.low, versus.high, 3)
            published = f"{format_number(theirs.relative, 3)}, {format_share(theirs.top_rate)}" if theirs else ""
            rows.append(
                (
                    label,
                    f"{score.relative:.3f} ({score.relative_sd:.3f})",
                    format_share(score.top_rate),
                    *[published] * paper,
                    MISSING if label == best else difference,
                    *finds.get(label, (MISSING, MISSING))[: 2 * found],
                    str(score.environments),
                    str(score.trials),
                    counts[label],
                    times[label],
                )
            )
        tables.append(rows)
    return tables


def rows_of_aggregates(field: Field) -> Rows:
    """Return header and rows of robust aggregates over the trials of a field, lowest interquartile mean first."""
    rows: Rows = [("agent", "interquartile mean [95 %]", "P(lower regret) [95 %]")]
    for aggregate in aggregate_agents(field.trials, field.reference):
        middle = format_estimate(aggregate.middle, aggregate.low, aggregate.high, 3)
        chance = format_estimate(aggregate.behind, aggregate.behind_low, aggregate.behind_high, 2)
        rows.append((aggregate.label, middle, chance))
    return rows


def rows_of_ranking(ranking: Ranking) -> Rows:
    """Return header and rows of the ranks of agents over tasks, best first."""
    first, *_ = ranking.ranks
    columns = "behind the first [95 %]", "R_T / random", "first on", "fails on", "ms/round"
    rows: Rows = [("agent", "mean rank [95 % interval]", *columns)]
    for rank in ranking.ranks:
        share = float(ranking.shares[rank.label].mean())  # `nan` without random play
        behind = MISSING if rank is first else format_estimate(rank.behind, rank.behind_low, rank.behind_high)
        fails = MISSING if rank.label == ranking.random else str(len(rank.failures))
        time = format_number(float(ranking.milliseconds[rank.label].mean()))
        place = format_estimate(rank.mean, rank.low, rank.high)
        rows.append((rank.label, place, behind, format_number(share, 2), str(rank.wins), fails, time))
    return rows


def rows_of_failures(ranking: Ranking) -> Rows:
    """Return header and rows of each agent's failures: its share of random play's R_T, or the reason it has none."""
    rows: Rows = [("agent", "fails on (R_T / random)")]
    for rank in ranking.ranks:
        alike: dict[str, list[str]] = {}
        for name, share in rank.failures.items():
            alike.setdefault(ranking.reasons.get((name, rank.label)) or format_number(share, 2), []).append(name)
        texts = [f"{', '.join(names)} ({text})" for text, names in alike.items()]
        rows.append((rank.label, "; ".join(texts) or (MISSING if rank.label == ranking.random else "no task")))
    return rows


def tables_of_tasks(ranking: Ranking) -> list[tuple[str, pd.DataFrame, int]]:
    """Return the non-empty tables of agents on tasks: name, numbers and digits of each."""
    tables = [
        ("R_T / random", ranking.shares, 2),
        (NAMES[SIMPLE_REGRET], ranking.simple_regret, DIGITS[SIMPLE_REGRET]),
        ("ms a round", ranking.milliseconds, 1),
    ]
    return [table for table in tables if len(table[1])]


def table_of_chance(results: pd.DataFrame, agents: Sequence[str]) -> Rows:
    """Return header and rows of R_T relative to uniform play, as `compare_with_chance` computes it.

    Args:
        results: from `load_results`.
        agents: labels of the columns, in this order. The last column has the highest of all agents.
    """
    table, names = compare_with_chance(results), environment_names(results)
    rows: Rows = [("R_T / chance ± standard error", *agents, "highest")]
    for key, group in table.groupby(level="environment_key", sort=False):
        columns = (group[name] for name in ("mean", "error", "worse"))
        texts = [f"{mean:.2f}±{error:.2f}{' worse' * worse}" for mean, error, worse in zip(*columns, strict=True)]
        cells = dict(zip(group.index.get_level_values("label"), texts, strict=True))
        highest = str(group["mean"].droplevel("environment_key").idxmax())
        rows.append((names[str(key)], *(cells.get(label, MISSING) for label in agents), f"{cells[highest]} {highest}"))
    means = table["mean"].groupby(level="label").mean().reindex(list(agents))
    return [*rows, ("mean", *(format_number(mean, 2) for mean in means), "")]


def environments_of(results: pd.DataFrame) -> dict[str, dict[str, object]]:
    """Return the environments by key, in the order of their first results."""
    firsts = results.drop_duplicates("environment_key")
    return dict(zip(firsts["environment_key"], firsts["environment"], strict=True))


def environment_names(results: pd.DataFrame) -> dict[str, str]:
    """Return the name of each environment by key: that of its task, or the settings in which it differs from others."""
    environments = environments_of(results)
    names = dict(zip(environments, name_environments(list(environments.values())), strict=True))
    return names | {key: name for key, (name, _) in name_tasks(results).items()}


def order_agents(results: pd.DataFrame, ranking: Ranking | None) -> list[str]:
    """Return all agents: by their rank over tasks, if any, then by relative regret, then the rest."""
    ranked = [] if ranking is None else [rank.label for rank in ranking.ranks]
    by_regret = [score.label for field in fields_of(results) for score in score_agents(field.trials, field.reference)]
    return list(dict.fromkeys([*ranked, *by_regret, *map(str, results["label"])]))


def mean_table(results: pd.DataFrame, order: Sequence[str], measure: str = "total_regret") -> pd.DataFrame:
    """Return the mean of a measure: a row for each environment, a column for each agent in this order."""
    fields = fields_of(results, measure)
    means = pd.concat([field.trials.groupby(level="environment").mean() for field in fields])
    return means.reindex(index=list(environments_of(results)), columns=list(order))


def table_of_changes(changes: Sequence[Change], measure: str = "total_regret") -> Rows:
    """Return header and rows of the changes of a measure between two folders."""
    name, digits = NAMES[measure], DIGITS[measure]
    columns = "agent", "trials", f"{name} before", f"{name} after", "relative difference [95 % interval]", ""
    rows: Rows = [columns]
    for change in changes:
        means = format_number(change.before, digits), format_number(change.after, digits)
        interval = format_estimate(change.difference, change.low, change.high, 3, "+")
        rows.append((change.label, str(change.trials), *means, interval, change.verdict))
    return rows


def tables_of_rounds(results: pd.DataFrame, rounds: Sequence[int]) -> list[Rows]:
    """Return a table of means for each measure that results have: its header, and a row for each agent.

    Args:
        results: from `load_results`, with the arrays `regret`, `simple_regret` and `best_found`.
        rounds: t, from 1 to the number of rounds of each finished repetition.

    Raises:
        ValueError: if a repetition has fewer rounds, or a round is below 1.
    """
    shortest = results.loc[results["status"] == "finished", "rounds"].min()
    if not rounds or not all(1 <= t <= shortest for t in rounds):  # `nan`, if none is finished, compares as False
        raise ValueError(f"Expected rounds from 1 to {shortest}, the shortest repetition. Got {[*rounds]}.")
    results = results.assign(cumulative_regret=results["regret"].map(lambda regret: regret.cumsum()))
    names, tables = environment_names(results), list[Rows]()
    for column, (name, digits, quantity) in OF_ROUNDS.items():
        measured = results[results[column].map(lambda values: values is not None and len(values) > 0)]
        rows: Rows = [(f"mean {name} [95 % interval]", *(f"t = {t}" for t in rounds))]
        for key, group in measured.groupby("environment_key", sort=False):
            if len(names) > 1:
                rows.append((names[str(key)], *[""] * len(rounds)))
            texts: dict[str, list[str]] = {summary.label: [] for summary in summarize(group)}
            for t in rounds:
                values = [array[t - 1] if len(array) >= t else float("nan") for array in group[column]]
                for summary in summarize(group.assign(value=values), "value", quantity):
                    texts[summary.label].append(format_interval(summary, digits))
            rows += [(label, *cells) for label, cells in texts.items()]
        tables += [rows] * (len(rows) > 1)
    return tables


def print_warnings(results: pd.DataFrame) -> None:
    """Warn if agents have not played the same instances, or if earlier versions of their algorithms have played."""
    if not play_equal_instances(results):
        print("\nThe agents have not all played the same instances: run the missing repetitions before you compare.")
    finished = results[results["status"] == "finished"]
    if results["environment_key"].nunique() == 1 and finished["label"].value_counts().min() < LEAST:
        print(f"\nAn interval needs {LEAST} repetitions: two show too little of how far others would be.")
    for label in earlier_versions(results):
        print(f"\n{label} was played by an earlier version of the agent's algorithm, and is not continued.")
