"""The report of a folder: one self-contained HTML page and a PNG, from stored results only."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from graph_bandit_lab.figures import agent_lines, diagnostics_figure, regret_figure
from graph_bandit_lab.results import load_results
from graph_bandit_lab.statistics import AgentSummary, count_repetitions, play_equal_instances, summarize
from graph_bandit_lab.sweep_report import sweep_content

REPORT_NAME = "report.html"
FIGURE_NAME = "regret.png"
DIAGNOSTICS_NAME = "diagnostics.png"
SETTINGS_COLUMNS = ("environment", "agent_settings", "versions")


def write_report(folder: str | Path) -> Path:
    """Write `report.html` and `regret.png` (and `diagnostics.png`, if any were recorded) into a folder of results.

    Args:
        folder: what `graph-bandit run --out` was given.

    Returns:
        The path of the page.

    Raises:
        FileNotFoundError: if the folder holds no results.
        ValueError: if no repetition is finished yet.
    """
    folder = Path(folder)
    results = load_results(folder)
    if results.empty:
        raise ValueError(f"Expected at least one repetition in {folder}. None is finished yet.")
    shared = {
        "agents": _agent_settings(results),
        "versions": _all_versions(results),
        "created": results["created"].max(),
    }
    several = len({str(environment) for environment in results["environment"]}) > 1
    content = sweep_content(results) if several else _content_of_one(folder, results)
    figure = content.pop("figure")
    _replace(folder / FIGURE_NAME, _to_png(figure))
    template = _templates().get_template("sweep.html.jinja" if several else "report.html.jinja")
    title = title_of(results)
    page = template.render(title=title, figure=_to_svg(figure), **content, **shared)
    _replace(folder / REPORT_NAME, page.encode())
    return folder / REPORT_NAME


def write_csv(folder: str | Path, path: str | Path) -> None:
    """Write a row for each repetition, without its arrays; settings that repetitions do not share stay empty.

    Args:
        folder: of results.
        path: of the file, which is replaced.

    Raises:
        FileNotFoundError: if the folder holds no results.
    """
    results = load_results(folder)
    plain = ["label", "agent", "seed", "status", "total_regret", "wall_time", "round_time", "created"]
    columns = [pd.json_normalize(results[name].tolist()).add_prefix(f"{name}.") for name in SETTINGS_COLUMNS]
    table = pd.concat([results[plain], *columns], axis=1)
    _replace(Path(path), table.to_csv(index=False).encode())


def _content_of_one(folder: Path, results: pd.DataFrame) -> dict[str, Any]:
    """Return what the template of one environment shows, and its figure."""
    summaries = summarize(results)
    labels = [summary.label for summary in summaries]
    theory = diagnostics_figure(results, labels) if results["diagnostics"].map(bool).any() else None
    if theory is not None:
        _replace(folder / DIAGNOSTICS_NAME, _to_png(theory))
    return {
        "figure": regret_figure(results, labels),
        "theory": None if theory is None else _to_svg(theory),
        "summaries": summaries,
        "colors": {label: color for label, (color, _) in agent_lines(labels).items()},
        "environment": results["environment"].iloc[0],
        "comparable": play_equal_instances(results),
        "seeds": list(dict.fromkeys(results["seed"])),
    }


def title_of(results: pd.DataFrame) -> str:
    """Say in one line what was played: the environment, or how many."""
    count = len({str(environment) for environment in results["environment"]})
    if count == 1:
        return describe(results["environment"].iloc[0])
    return f"{count} environments, {results['label'].nunique()} agents, {len(results):,} repetitions"


def describe(environment: dict[str, Any]) -> str:
    """Say in one line which environment this is."""
    graphs = {"er": f"ER graphs, p = {environment['edge_prob']}", "rdpg": "random dot product graphs"}
    return (
        f"{graphs[environment['graph_model']]}, N = {environment['num_nodes']}, K = {environment['num_graphs']}, "
        f"{environment['reward_model']} reward, T = {environment['horizon']}"
    )


def format_interval(summary: AgentSummary, digits: int = 1) -> str:
    """Write a mean with its 95 % interval."""
    if summary.finished == 0:
        return "none finished"
    if summary.finished == 1:
        return f"{summary.mean:,.{digits}f}"
    return f"{summary.mean:,.{digits}f} [{summary.low:,.{digits}f}, {summary.high:,.{digits}f}]"


def format_ratio(ratio: float) -> str:
    """Write a ratio, or a dash where there is none."""
    return "–" if np.isnan(ratio) else f"{ratio:.3f}"


def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("graph_bandit_lab", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["interval"] = format_interval
    environment.filters["ratio"] = format_ratio
    environment.filters["count_repetitions"] = count_repetitions
    return environment


def _agent_settings(results: pd.DataFrame) -> dict[str, dict[str, Any]]:
    return dict(zip(results["label"], results["agent_settings"], strict=True))


def _all_versions(results: pd.DataFrame) -> dict[str, str]:
    frame = pd.DataFrame(results["versions"].tolist())
    return {str(name): ", ".join(dict.fromkeys(frame[name].dropna())) for name in frame}


def _to_png(figure: Figure) -> bytes:
    picture = io.BytesIO()
    figure.savefig(picture, dpi=160, format="png")
    return picture.getvalue()


def _to_svg(figure: Figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that readers see the old one or the new one, never a part."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    os.replace(part, path)
