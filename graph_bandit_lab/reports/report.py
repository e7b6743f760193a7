"""Write the report of a folder: a self-contained HTML page and its figures, from stored results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from graph_bandit_env.storage import replace_file
from graph_bandit_lab.analysis.aggregates import profile_agents
from graph_bandit_lab.analysis.ranking import Ranking, rank_agents
from graph_bandit_lab.analysis.scores import Field, exceptions_to, fields_of
from graph_bandit_lab.analysis.statistics import earlier_versions, play_equal_instances
from graph_bandit_lab.design.names import describe_environment, has_one_instance, meaningful_settings
from graph_bandit_lab.formats import format_number
from graph_bandit_lab.reports.figures import (
    MAX_PANELS,
    agent_lines,
    diagnostics_figure,
    findings_figure,
    panels_figure,
    profiles_figure,
    regret_figure,
    settings_figure,
)
from graph_bandit_lab.reports.pages import templates, to_png, to_svg
from graph_bandit_lab.reports.tables import (
    DIGITS,
    SIMPLE_REGRET,
    environment_names,
    environments_of,
    mean_table,
    order_agents,
    rows_of_aggregates,
    rows_of_failures,
    rows_of_ranking,
    table_of_run,
    tables_of_fields,
    tables_of_tasks,
)
from graph_bandit_lab.storage.reading import load_results

REPORT_NAME = "report.html"
FIGURES = ("regret", "profiles", "findings", "settings", "diagnostics")
MAX_FAILURES = 20  # failures that are listed; the log has all
MAX_AGENTS = 12  # agents that are drawn, and have a column in the table of environments
MAX_FIELDS = 4  # whose profiles are drawn
MAX_EXCEPTIONS = 24  # environments that are named


def write_report(folder: str | Path) -> Path:
    """Write `report.html` and its figures into a folder of results, each as PNG and as SVG.

    It always draws `regret`. It draws `profiles` for a sweep, `findings` and `diagnostics` if any were recorded, and
    `settings` for one agent under a product of settings.

    Args:
        folder: the folder passed to `graph-bandit run --out`.

    Returns:
        The path of the page.

    Raises:
        FileNotFoundError: if the folder holds no results.
        ValueError: if no repetition is finished yet.
    """
    folder = Path(folder)
    results = load_results(folder, arrays=("regret", "simple_regret", "top_recall", "diagnostics"))
    if results.empty:
        raise ValueError(f"Expected at least one repetition in {folder}. None is finished yet.")
    several = results["environment_key"].nunique() > 1
    content, figures = _content_of_sweep(results) if several else _content_of_run(results)
    pictures = {name: to_svg(figure) for name, figure in figures.items()}
    for name, figure in figures.items():
        replace_file(folder / f"{name}.png", to_png(figure))
        replace_file(folder / f"{name}.svg", pictures[name].encode())
    versions = pd.DataFrame(results["versions"].tolist()).drop(columns="algorithm", errors="ignore")  # it is in labels
    page = templates().get_template("sweep.html.jinja" if several else "report.html.jinja")
    text = page.render(
        title=title_of(results),
        pictures=dict.fromkeys(FIGURES, "") | pictures,
        versions={name: ", ".join(dict.fromkeys(versions[name].dropna())) for name in versions},
        earlier=earlier_versions(results),
        created=results["created"].max(),
        **_settings_of_agents(results),
        **content,
    )
    replace_file(folder / REPORT_NAME, text.encode())
    return folder / REPORT_NAME


def title_of(results: pd.DataFrame) -> str:
    """Return a one-line title: the environment, or the numbers of environments, agents and repetitions."""
    count = results["environment_key"].nunique()
    if count == 1:
        return describe_environment(results["environment"].iloc[0])
    return f"{count} environments, {results['label'].nunique()} agents, {len(results):,} repetitions"


def _content_of_run(results: pd.DataFrame) -> tuple[dict[str, object], dict[str, Figure]]:
    """Return the content of the page of one environment, and its figures."""
    rows, environment = table_of_run(results), results["environment"].iloc[0]
    labels = [label for label, *_ in rows[1:]]
    figures = {"regret": regret_figure(results, labels)}
    if results["simple_regret"].notna().any():
        figures["findings"] = findings_figure(results, labels)
    by_settings = settings_figure(results)
    if by_settings is not None:
        figures["settings"] = by_settings
    if results["diagnostics"].map(bool).any():
        figures["diagnostics"] = diagnostics_figure(results, labels)
    return {
        "rows": rows,
        "lines": agent_lines(labels),
        "environment": meaningful_settings(environment),
        "one_instance": has_one_instance(environment),
        "comparable": play_equal_instances(results),
        "seeds": list(dict.fromkeys(results["seed"])),
    }, figures


def _content_of_sweep(results: pd.DataFrame) -> tuple[dict[str, object], dict[str, Figure]]:
    """Return the content of the page of many environments, and its figures."""
    names, fields, ranking = environment_names(results), fields_of(results), rank_agents(results)
    order = order_agents(results, ranking)
    shown, lines = order[:MAX_AGENTS], agent_lines(order)  # the tables have all agents
    simple = mean_table(results, order, SIMPLE_REGRET).dropna(how="all")
    failed = results[results["status"] == "failed"]
    figures = {"regret": panels_figure(results, shown, names, lines)}
    drawn = [[label for label in shown if label in field.trials] for field in fields]
    profiles = [
        profile_agents(field.trials, field.reference, labels) for field, labels in zip(fields, drawn, strict=True)
    ]
    if any(profiles):
        figures["profiles"] = profiles_figure([some for some in profiles if some][:MAX_FIELDS], lines)
    if len(simple):
        figures["findings"] = panels_figure(results, shown, names, lines, "simple_regret")
    environments = [meaningful_settings(environment) for environment in environments_of(results).values()]
    return {
        "ranking": None if ranking is None else _content_of_ranking(ranking),
        "fields": [
            {
                "of": field,
                "rows": rows,
                "aggregates": rows_of_aggregates(field),
                "exceptions": _exceptions(field, rows, names),
            }
            for field, rows in zip(fields, tables_of_fields(results), strict=True)
        ],
        "agents_shown": shown,
        "all_agents": len(order),
        "means": _with_lowest(mean_table(results, order).rename(index=names), 1),
        "simple_regrets": _with_lowest(simple.rename(index=names), DIGITS[SIMPLE_REGRET]),
        "panels": MAX_PANELS,
        "failures": [
            (row["label"], names[row["environment_key"]], row["seed"], str(row["error"]).strip().splitlines()[-1])
            for row in failed.head(MAX_FAILURES).to_dict("records")
        ],
        "all_failures": len(failed),
        "lines": agent_lines(order),
        "environment": {
            name: ", ".join(dict.fromkeys(str(own[name]) for own in environments if name in own))
            for name in dict.fromkeys(name for own in environments for name in own)
        },
    }, figures


def _content_of_ranking(ranking: Ranking) -> dict[str, object]:
    """Return the content of `ranking.html.jinja`."""
    return {
        "of": ranking,
        "ranks": rows_of_ranking(ranking),
        "failures": rows_of_failures(ranking),
        "shown": [rank.label for rank in ranking.ranks][:MAX_AGENTS],
        "tables": [
            (what, _with_lowest(table, digits, bold=what != "ms a round"))  # the fastest is always random play
            for what, table, digits in tables_of_tasks(ranking)
        ],
    }


def _with_lowest(table: pd.DataFrame, digits: int, *, bold: bool = True) -> list[tuple[str, dict[str, str], str]]:
    """Return the name of each row, its texts by label, and the lowest of them, which is printed in bold."""
    return [
        (
            str(name),
            {str(label): format_number(value, digits) for label, value in row.items()},
            format_number(row.min(), digits) if bold and row.notna().any() else "",
        )
        for name, row in table.iterrows()
    ]


def _exceptions(field: Field, rows: list[tuple[str, ...]], names: Mapping[str, str]) -> str:
    """Name the environments on which another agent has lower regret than the best of the ranked agents."""
    best = next((label for label, *_ in rows[1:] if label in field.reference), None)
    if best is None or len(names) < 2:
        return ""
    exceptions = exceptions_to(field.trials, best, field.reference)
    count = field.trials.index.get_level_values("environment").nunique()
    among = "the paper's six" if field.paper else "these agents"
    text = f"{best} has the lowest mean of {among} on {count - len(exceptions)} of {count} environments"
    named = [f"{names[key]}: {label}" for key, label in list(exceptions.items())[:MAX_EXCEPTIONS]]
    more = f"; and {len(exceptions) - len(named)} more" if len(exceptions) > len(named) else ""
    return f"{text}. Lowest elsewhere: {'; '.join(named)}{more}." if exceptions else f"{text}."


def _settings_of_agents(results: pd.DataFrame) -> dict[str, object]:
    """Return the settings that two or more agents share with the same value, and the other settings of each agent.

    A setting that depends on the graph model lists each value with its model.
    """
    models = results["environment"].map(lambda environment: environment["graph_model"])
    played: dict[str, dict[str, dict[str, object]]] = {}
    for label, model, settings in zip(results["label"], models, results["agent_settings"], strict=True):
        played.setdefault(label, {})[model] = settings
    agents: dict[str, dict[str, str]] = {}
    values: dict[str, list[str]] = {}
    for label, by_model in played.items():
        for name in next(iter(by_model.values())):
            texts = {model: str(settings.get(name)) for model, settings in by_model.items()}
            alike = len(set(texts.values())) == 1
            text = next(iter(texts.values())) if alike else ", ".join(f"{v} ({model})" for model, v in texts.items())
            agents.setdefault(label, {})[name] = text
            values.setdefault(name, []).append(text)
    common = {name: texts[0] for name, texts in values.items() if len(texts) > 1 and len(set(texts)) == 1}
    own = {label: {k: v for k, v in settings.items() if k not in common} for label, settings in agents.items()}
    return {"common": common, "agents": own}
