"""Make the report of many environments: scores, panels, and a table of every environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from graph_bandit_lab.analysis.aggregates import Profile, aggregate_agents, profile_agents
from graph_bandit_lab.analysis.paper import TABLE_1
from graph_bandit_lab.analysis.ranking import Ranking, name_tasks, rank_agents, tasks_of
from graph_bandit_lab.analysis.scores import (
    Field,
    Score,
    compare_agents,
    exceptions_to,
    fields_of,
    mean_regrets,
    score_agents,
)
from graph_bandit_lab.analysis.statistics import summarize
from graph_bandit_lab.design.names import meaningful_settings, name_environments
from graph_bandit_lab.formats import (
    MISSING,
    format_count,
    format_difference,
    format_duration,
    format_estimate,
    format_number,
)
from graph_bandit_lab.reports.figures import agent_lines, svg_lines
from graph_bandit_lab.reports.findings import DIGITS, SIMPLE_REGRET, findings_of_sweep
from graph_bandit_lab.reports.panels import MAX_PANELS, panels_figure, profiles_figure

MAX_FAILURES = 20  # failures that are listed; the log has all
MAX_AGENTS = 12  # agents that are drawn, and have a column in the table of environments
MAX_FIELDS = 4  # whose profiles are drawn
MAX_EXCEPTIONS = 24  # environments that are named


def sweep_content(results: pd.DataFrame) -> tuple[dict[str, object], dict[str, Figure]]:
    """Return the content of the page of a sweep, and its figures.

    Args:
        results: of `load_results`, of more than one environment.
    """
    names = environment_names(results)
    scored = [(field, score_agents(field.trials, field.reference)) for field in fields_of(results)]
    ranking = rank_agents(results, tasks_of(results))
    order = order_agents(results, scored, ranking)
    means, simple = mean_table(results, order), mean_table(results, order, SIMPLE_REGRET)
    shown = order[:MAX_AGENTS]
    failed = results[results["status"] == "failed"]
    content: dict[str, object] = {
        "ranking": None if ranking is None else ranking_content(ranking),
        "fields": [
            {**_field_content(field, scores, names), "findings": findings}
            for (field, scores), findings in zip(scored, findings_of_sweep(results), strict=True)
        ],
        "counts": {summary.label: format_count(summary) for summary in summarize(results)},
        "times": results.groupby("label")["wall_time"].sum().map(format_duration).to_dict(),
        "agents_shown": shown,
        "all_agents": len(order),
        "names": [(names[str(key)], _row(row)) for key, row in means.iterrows()],
        "simple_regrets": [
            (names[str(key)], _row(row, DIGITS[SIMPLE_REGRET])) for key, row in simple.dropna(how="all").iterrows()
        ],
        "panels": MAX_PANELS,
        "failures": [
            (row["label"], names[row["environment_key"]], row["seed"], str(row["error"]).strip().splitlines()[-1])
            for row in failed.head(MAX_FAILURES).to_dict("records")
        ],
        "all_failures": len(failed),
        "lines": svg_lines(order),
        "environment": _settings_over_all(list(environments_of(results).values())),
    }
    drawn = results[results["label"].isin(shown)]
    lines = agent_lines(order)  # also of those that are not drawn, since the tables have all
    figures = {"regret": panels_figure(drawn, shown, named=names, lines=lines)}
    profiles = [_profiles_of(field, shown) for field in fields_of(results)]
    if any(profiles):
        figures["profiles"] = profiles_figure([some for some in profiles if some][:MAX_FIELDS], lines)
    if content["simple_regrets"]:
        figures["findings"] = panels_figure(drawn, shown, "simple_regret", names, lines)
    return content, figures


def environments_of(results: pd.DataFrame) -> dict[str, dict[str, object]]:
    """Return the environments by key, in the order of their first results."""
    firsts = results.drop_duplicates("environment_key")
    return dict(zip(firsts["environment_key"], firsts["environment"], strict=True))


def environment_names(results: pd.DataFrame) -> dict[str, str]:
    """Return the name of each environment by key: that of its task, or the settings in which it differs from others."""
    environments = environments_of(results)
    names = dict(zip(environments, name_environments(list(environments.values())), strict=True))
    return names | {key: name for key, (name, _) in name_tasks(results, tasks_of(results)).items()}


def order_agents(
    results: pd.DataFrame, scored: Sequence[tuple[Field, Sequence[Score]]], ranking: Ranking | None
) -> list[str]:
    """Return all agents: by their rank over tasks, if there is one, then by relative regret; then those without."""
    ranked = [] if ranking is None else [rank.label for rank in ranking.ranks]
    by_regret = [score.label for _, scores in scored for score in scores]
    return list(dict.fromkeys([*ranked, *by_regret, *map(str, results["label"])]))


def mean_table(results: pd.DataFrame, order: Sequence[str], measure: str = "total_regret") -> pd.DataFrame:
    """Return the mean of a measure: a row for each environment, a column for each agent in this order."""
    means = mean_regrets(fields_of(results, measure))
    return means.reindex(index=list(environments_of(results)), columns=list(order))


def rows_of_ranking(ranking: Ranking) -> list[tuple[str, ...]]:
    """Return header and rows of the ranks of agents over tasks, best first."""
    rows: list[tuple[str, ...]] = [
        (
            "agent",
            "mean rank [95 % interval]",
            "behind the first [95 %]",
            "R_T / random",
            "first on",
            "fails on",
            "ms/round",
        )
    ]
    for rank in ranking.ranks:
        share = float(ranking.shares[rank.label].mean()) if len(ranking.shares) else float("nan")
        is_first = rank is ranking.ranks[0]
        rows.append(
            (
                rank.label,
                format_estimate(rank.mean, rank.low, rank.high),
                MISSING if is_first else format_estimate(rank.behind, rank.behind_low, rank.behind_high),
                format_number(share, 2),
                str(rank.wins),
                MISSING if rank.label == ranking.random else str(len(rank.failures)),
                format_number(float(ranking.milliseconds[rank.label].mean())),
            )
        )
    return rows


def rows_of_failures(ranking: Ranking) -> list[tuple[str, ...]]:
    """Return header and rows of where each agent fails: its share of random play's R_T, or why it has none."""
    rows: list[tuple[str, ...]] = [("agent", "fails on (R_T / random)")]
    for rank in ranking.ranks:
        alike: dict[str, list[str]] = {}
        for name, share in rank.failures.items():
            alike.setdefault(ranking.reasons.get((name, rank.label)) or format_number(share, 2), []).append(name)
        texts = [f"{', '.join(names)} ({text})" for text, names in alike.items()]
        rows.append((rank.label, "; ".join(texts) or (MISSING if rank.label == ranking.random else "no task")))
    return rows


def ranking_content(ranking: Ranking) -> dict[str, object]:
    """Return what `ranking.html.jinja` shows."""
    shown = [rank.label for rank in ranking.ranks][:MAX_AGENTS]
    tables = [
        ("R<sub>T</sub> / random", ranking.shares, 2, True),
        ("simple regret", ranking.simple_regret, DIGITS[SIMPLE_REGRET], True),
        ("ms a round", ranking.milliseconds, 1, False),  # the fastest is always random play
    ]
    return {
        "ranks": rows_of_ranking(ranking),
        "failures": rows_of_failures(ranking),
        "shown": shown,
        "all": len(ranking.ranks),
        "tables": [
            (what, [(str(name), _row(row, digits, bold=bold)) for name, row in table.iterrows()])
            for what, table, digits, bold in tables
            if len(table)
        ],
        "hard": [(name, ranking.hard[name], count) for name, count in ranking.trials.items()],
        "unranked": [f"{label} ({text})" for label, text in ranking.unranked.items()],
        "left_out": [f"{name} ({text})" for name, text in ranking.left_out.items()],
    }


def _field_content(field: Field, scores: Sequence[Score], names: Mapping[str, str]) -> dict[str, object]:
    return {
        "scores": scores,
        "published": {label: TABLE_1[agent] for label, agent in field.paper.items()},
        "differences": differences_to_the_best(field, scores),
        "aggregates": rows_of_aggregates(field),
        "exceptions": _exceptions(field, scores, names),
        "trials": len(field.trials),
        "planned": field.planned,
        "absent": field.absent,
    }


def _profiles_of(field: Field, shown: Sequence[str]) -> list[Profile]:
    """Return the profiles of the agents that are drawn, best first."""
    here = [label for label in shown if label in field.trials]
    return profile_agents(field.trials, field.reference, here) if here else []


def rows_of_aggregates(field: Field) -> list[tuple[str, ...]]:
    """Return header and rows of robust aggregates over the trials of a field, lowest interquartile mean first."""
    rows: list[tuple[str, ...]] = [("agent", "interquartile mean [95 %]", "P(first has less regret) [95 %]")]
    for aggregate in aggregate_agents(field.trials, field.reference):
        middle = format_estimate(aggregate.middle, aggregate.low, aggregate.high, 3)
        chance = format_estimate(aggregate.behind, aggregate.behind_low, aggregate.behind_high, 2)
        rows.append((aggregate.label, middle, chance))
    return rows


def differences_to_the_best(field: Field, scores: Sequence[Score]) -> dict[str, str]:
    """Write relative regret minus that of the best agent (of the paper's six, if played), with its interval."""
    best = next((score.label for score in scores if score.label in field.reference), "")
    comparisons = [compare_agents(field.trials, score.label, best, field.reference) for score in scores]
    return {
        comparison.first: MISSING if comparison.first == best else format_difference(comparison)
        for comparison in comparisons
    }


def _exceptions(field: Field, scores: Sequence[Score], names: Mapping[str, str]) -> str:
    """Name the environments on which another agent has less regret than the best of the ranked agents."""
    best = next((score.label for score in scores if score.label in field.reference), None)
    if best is None or len(names) < 2:
        return ""
    exceptions = exceptions_to(field.trials, best, field.reference)
    count = field.trials.index.get_level_values("environment").nunique()
    among = "the paper's six" if field.paper else "these agents"
    text = f"{best} has the lowest mean of {among} on {count - len(exceptions)} of {count} environments"
    named = [f"{names[key]}: {label}" for key, label in list(exceptions.items())[:MAX_EXCEPTIONS]]
    more = f"; and {len(exceptions) - len(named)} more" if len(exceptions) > len(named) else ""
    return f"{text}. Lowest elsewhere: {'; '.join(named)}{more}." if exceptions else f"{text}."


def _row(values: pd.Series[float], digits: int = 1, *, bold: bool = True) -> dict[str, object]:
    """Return the texts of a row of all agents, and which of them is printed in bold: that of the lowest value."""
    texts = {str(label): format_number(value, digits) for label, value in values.items()}
    return {"means": texts, "lowest": format_number(values.min(), digits) if bold and values.notna().any() else ""}


def _settings_over_all(environments: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """List the values of each setting."""
    environments = [meaningful_settings(environment) for environment in environments]
    names = dict.fromkeys(name for environment in environments for name in environment)
    values = {name: [environment[name] for environment in environments if name in environment] for name in names}
    return {name: ", ".join(dict.fromkeys(map(str, its))) for name, its in values.items()}
