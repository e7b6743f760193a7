"""Write the report of a folder: a self-contained HTML page and its figures, from stored results."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from graph_bandit_env.storage import replace_file
from graph_bandit_lab.analysis.statistics import earlier_versions, play_equal_instances, summarize
from graph_bandit_lab.design.keys import has_one_instance
from graph_bandit_lab.design.names import describe_environment, meaningful_settings
from graph_bandit_lab.formats import format_count, format_interval, format_number, format_relative
from graph_bandit_lab.reports.figures import diagnostics_figure, findings_figure, regret_figure, svg_lines
from graph_bandit_lab.reports.findings import findings_of_run
from graph_bandit_lab.reports.pages import templates, to_png, to_svg
from graph_bandit_lab.reports.panels import settings_figure
from graph_bandit_lab.reports.sweep_report import sweep_content
from graph_bandit_lab.storage.reading import load_results

REPORT_NAME = "report.html"
FIGURES = ("regret", "profiles", "findings", "settings", "diagnostics")


def write_report(folder: str | Path) -> Path:
    """Write `report.html` and its figures into a folder of results, each as PNG and as SVG.

    It always draws `regret`; `profiles` of a sweep; `findings` and `diagnostics` if any were recorded; `settings` for
    one agent under a product of settings.

    Args:
        folder: the folder that `graph-bandit run --out` was given.

    Returns:
        The path of the page.

    Raises:
        FileNotFoundError: if the folder holds no results.
        ValueError: if no repetition is finished yet.
    """
    folder = Path(folder)
    results = load_results(folder, arrays=("regret", "simple_regret", "top_share", "diagnostics"))
    if results.empty:
        raise ValueError(f"Expected at least one repetition in {folder}. None is finished yet.")
    common, own = _split(_agent_settings(results))
    shared = {
        "common": common,
        "agents": own,
        "versions": _all_versions(results),
        "earlier": earlier_versions(results),
        "created": results["created"].max(),
    }
    several = results["environment_key"].nunique() > 1
    content, figures = sweep_content(results) if several else _content_of_one(results)
    drawn = {name: figures[name] for name in FIGURES if name in figures}
    pictures = dict.fromkeys(FIGURES, "") | {name: to_svg(figure) for name, figure in drawn.items()}
    for name, figure in drawn.items():
        replace_file(folder / f"{name}.png", to_png(figure))
        replace_file(folder / f"{name}.svg", pictures[name].encode())
    environment = templates()
    filters = {"interval": format_interval, "relative": format_relative, "number": format_number, "count": format_count}
    environment.filters |= filters
    template = environment.get_template("sweep.html.jinja" if several else "report.html.jinja")
    title = title_of(results)
    page = template.render(title=title, pictures=pictures, **content, **shared)
    replace_file(folder / REPORT_NAME, page.encode())
    return folder / REPORT_NAME


def _content_of_one(results: pd.DataFrame) -> tuple[dict[str, object], dict[str, Figure]]:
    """Return the content of the page of one environment, and its figures."""
    summaries = summarize(results)
    labels = [summary.label for summary in summaries]
    findings = findings_of_run(results)
    figures = {"regret": regret_figure(results, labels)}
    if findings:
        figures["findings"] = findings_figure(results, labels)
    by_settings = settings_figure(results)
    if by_settings is not None:
        figures["settings"] = by_settings
    if results["diagnostics"].map(bool).any():
        figures["diagnostics"] = diagnostics_figure(results, labels)
    return {
        "summaries": summaries,
        "findings": findings,
        "lines": svg_lines(labels),
        "environment": meaningful_settings(results["environment"].iloc[0]),
        "one_instance": has_one_instance(results["environment"].iloc[0]),
        "comparable": play_equal_instances(results),
        "seeds": list(dict.fromkeys(results["seed"])),
    }, figures


def title_of(results: pd.DataFrame) -> str:
    """Describe in one line what was played: the environment, or the number of environments."""
    count = results["environment_key"].nunique()
    if count == 1:
        return describe_environment(results["environment"].iloc[0])
    return f"{count} environments, {results['label'].nunique()} agents, {len(results):,} repetitions"


def _agent_settings(results: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return the settings of each agent. A setting that depends on the graph model has all values with their models."""
    models = results["environment"].map(lambda environment: environment["graph_model"])
    rows = zip(results["label"], models, results["agent_settings"], strict=True)
    agents: dict[str, dict[str, dict[str, object]]] = {}
    for label, model, settings in rows:
        agents.setdefault(label, {})[model] = settings
    return {label: _merge(by_model) for label, by_model in agents.items()}


def _split(agents: dict[str, dict[str, str]]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Split settings into those that two agents or more have, all with the same value, and the others."""
    values: dict[str, list[str]] = {}
    for settings in agents.values():
        for name, value in settings.items():
            values.setdefault(name, []).append(value)
    common = {name: texts[0] for name, texts in values.items() if len(texts) > 1 and len(set(texts)) == 1}
    own = {label: {k: v for k, v in settings.items() if k not in common} for label, settings in agents.items()}
    return common, own


def _merge(by_model: dict[str, dict[str, object]]) -> dict[str, str]:
    merged = {}
    for name in next(iter(by_model.values())):
        values = {model: str(settings.get(name)) for model, settings in by_model.items()}
        alike = len(set(values.values())) == 1
        merged[name] = values.popitem()[1] if alike else ", ".join(f"{v} ({model})" for model, v in values.items())
    return merged


def _all_versions(results: pd.DataFrame) -> dict[str, str]:
    plug_ins = results["plug_in"].where(results["plug_in"] != "").tolist()
    frame = pd.DataFrame(results["versions"].tolist()).assign(**{"plug-in": plug_ins}).dropna(axis=1, how="all")
    return {str(name): ", ".join(dict.fromkeys(frame[name].dropna())) for name in frame}
