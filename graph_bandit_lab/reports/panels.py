"""Draw the figures of sweeps: a panel for each environment or value, in rows and columns like the paper's."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from graph_bandit_lab.analysis.aggregates import Profile
from graph_bandit_lab.design.names import SYMBOLS, name_environments, varying_settings
from graph_bandit_lab.reports.figures import LEGEND_ROW, LEGEND_WIDTH, STYLE, agent_lines

COLUMNS = 3  # unless the environments suggest another number
MAX_COLUMNS = 4
MAX_PANELS = 24
MAX_POINTS = 150  # of a curve
TITLE_WIDTH = 44  # characters in a line of a title
CUMULATIVE, SIMPLE = "cumulative regret $R_t$ (reward units)", "simple regret (reward units)"


def arrange(environments: Sequence[Mapping[str, object]]) -> tuple[list[int], int]:
    """Arrange panels by the settings that vary.

    One setting makes a row. The product of two makes a row for each value of the one with fewer values, and a column
    for each value of the other, as in Figures 1 and 2 of the paper. All else stays in the given order.

    Returns:
        The index of the environment of each panel, row by row, and the number of columns.
    """
    varying = varying_settings(environments)
    values = {
        key: list(dict.fromkeys(json.dumps(environment.get(key)) for environment in environments)) for key in varying
    }
    given = list(range(len(environments)))
    if len(varying) == 1 and len(environments) <= MAX_COLUMNS:
        return given, len(environments)
    if len(varying) == 2:
        row, column = sorted(varying, key=lambda key: len(values[key]))
        cells = {(json.dumps(environments[i].get(row)), json.dumps(environments[i].get(column))): i for i in given}
        if len(cells) == len(given) == len(values[row]) * len(values[column]) and len(values[column]) <= MAX_COLUMNS:
            return [cells[r, c] for r in values[row] for c in values[column]], len(values[column])
    return given, min(COLUMNS, len(environments))


def panels_figure(
    results: pd.DataFrame,
    order: Sequence[str],
    measure: str = "regret",
    named: Mapping[str, str] | None = None,
    lines: Mapping[str, tuple[str, str]] | None = None,
) -> Figure:
    """Draw cumulative regret on each environment: mean and standard deviation over repetitions, as in the paper.

    Args:
        results: of `load_results`; repetitions that are not finished are left out.
        order: labels of the agents, best first.
        measure: "regret"; or "simple_regret", which is drawn as it is, where it was recorded.
        named: titles by environment key; None: the settings in which environments differ.
        lines: colour and dash by label; None: those of these agents alone.

    Returns:
        A panel for each of the first 24 environments.
    """
    firsts = results.drop_duplicates("environment_key")
    keys, environments = list(firsts["environment_key"]), list(firsts["environment"])
    names = name_environments(environments) if named is None else [named[key] for key in keys]
    indices, columns = arrange(environments)
    finished = results[(results["status"] == "finished") & results[measure].notna()]
    adds_up = measure == "regret"
    curves = {
        (key, label): np.stack([regret.cumsum() if adds_up else regret for regret in rows[measure]])
        for (key, label), rows in finished.groupby(["environment_key", "label"])
        if keys.index(str(key)) in indices[:MAX_PANELS]
    }
    drawn = [
        (names[index], {label: curves[keys[index], label] for label in order if (keys[index], label) in curves})
        for index in indices[:MAX_PANELS]
    ]
    return draw_panels(drawn, lines or agent_lines(order), columns, CUMULATIVE if adds_up else SIMPLE)


def draw_panels(
    panels: Sequence[tuple[str, Mapping[str, np.ndarray]]],
    lines: Mapping[str, tuple[str, str]],
    columns: int,
    name: str = CUMULATIVE,
) -> Figure:
    """Draw panels with one legend.

    Args:
        panels: title, and curves `(repetitions, T)` by label, row by row.
        lines: colour and dash by label.
        columns: panels in a row.
        name: what the curves show.
    """
    rows = -(-len(panels) // columns)
    order = list(dict.fromkeys(label for _, curves in panels for label in curves))
    with mpl.rc_context(STYLE):
        width = max(7.0, 4.2 * columns)
        legend = max(1, min(len(order), int(LEGEND_WIDTH * width / 12.6) // (max(map(len, order), default=0) + 8)))
        height = 3.1 * rows + 0.5 + LEGEND_ROW * (-(-len(order) // legend) + 1)
        figure = Figure(figsize=(width, height), layout="constrained")
        axes_of = figure.subplots(rows, columns, squeeze=False)
        for axes, (title, curves) in zip(axes_of.flat, panels, strict=False):
            for label, regret in curves.items():
                _draw_mean_and_deviation(axes, regret, label, lines[label])
            axes.set_title(textwrap.fill(title, TITLE_WIDTH), fontsize=9 if len(title) > 36 else 11)
            axes.set_ylim(bottom=0)
            axes.margins(x=0)
            axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
            axes.tick_params(labelsize=10)
        for axes in axes_of.flat[len(panels) :]:
            axes.axis("off")
        for axes in axes_of.flat[max(0, len(panels) - columns) : len(panels)]:
            axes.set_xlabel("round $t$", fontsize=12)
        figure.supylabel(name, fontsize=12)
        handles = [
            axes_of.flat[0].plot([], [], lines[label][1], color=lines[label][0], linewidth=2.2)[0] for label in order
        ]
        if handles:
            figure.legend(handles, order, loc="outside lower center", ncols=legend)
    return figure


def profiles_figure(fields: Sequence[Sequence[Profile]], lines: Mapping[str, tuple[str, str]]) -> Figure:
    """Draw the performance profiles of agents, with 95 % intervals: a panel for each field.

    Args:
        fields: profiles of the agents of each field, best first.
        lines: colour and dash by label.
    """
    order = list(dict.fromkeys(profile.label for profiles in fields for profile in profiles))
    with mpl.rc_context(STYLE):
        columns = min(len(fields), 2)
        rows = -(-len(fields) // columns)
        legend = max(1, min(len(order), LEGEND_WIDTH // (max(map(len, order), default=0) + 8)))
        height = 4.4 * rows + LEGEND_ROW * (-(-len(order) // legend) + 1)
        figure = Figure(figsize=(12, height), layout="constrained")
        axes_of = figure.subplots(rows, columns, squeeze=False)
        for axes, profiles in zip(axes_of.flat, fields, strict=False):
            for profile in profiles:
                color, dash = lines[profile.label]
                axes.step(profile.thresholds, profile.shares, dash, where="post", color=color, linewidth=2.2)
                bounds = profile.thresholds, profile.low, profile.high
                axes.fill_between(*bounds, step="post", color=color, alpha=0.12, linewidth=0)
            axes.set(xlabel="relative regret $\\tau$", ylabel="share of trials up to $\\tau$", ylim=(-0.02, 1.02))
            axes.margins(x=0)
        for axes in axes_of.flat[len(fields) :]:
            axes.axis("off")
        handles = [
            axes_of.flat[0].plot([], [], lines[label][1], color=lines[label][0], linewidth=2.2)[0] for label in order
        ]
        figure.legend(handles, order, loc="outside lower center", ncols=legend)
    return figure


def _draw_mean_and_deviation(axes: Axes, curves: np.ndarray, label: str, line: tuple[str, str]) -> None:
    points = np.unique(np.linspace(0, curves.shape[1] - 1, min(curves.shape[1], MAX_POINTS)).astype(int))
    mean, deviation = curves[:, points].mean(axis=0), curves[:, points].std(axis=0)
    color, dash = line
    axes.plot(points + 1, mean, dash, color=color, linewidth=1.8, label=label)
    low = np.clip(mean - deviation, 0, None)
    axes.fill_between(points + 1, low, mean + deviation, color=color, alpha=0.12, linewidth=0)


def settings_figure(results: pd.DataFrame) -> Figure | None:
    """Draw an agent's cumulative regret by its settings, mean and standard deviation over repetitions.

    Args:
        results: of `load_results`, on one environment.

    Returns:
        A panel for each value of the setting with fewer values, and a line for each value of the other; None unless
        the results are those of one agent under the product of two settings.
    """
    finished = results[results["status"] == "finished"]
    firsts = finished.drop_duplicates("label")
    settings = list(firsts["agent_settings"])
    if finished["agent"].nunique() != 1 or len(settings) < 4:
        return None
    varying = varying_settings(settings)
    values = {key: list(dict.fromkeys(json.dumps(setting.get(key)) for setting in settings)) for key in varying}
    if len(varying) != 2 or len(settings) != len(values[varying[0]]) * len(values[varying[1]]):
        return None
    panel, line = sorted(varying, key=lambda key: len(values[key]))
    if len(values[panel]) > MAX_COLUMNS:
        return None
    names = [_name(line, json.loads(value)) for value in values[line]]
    curves: dict[tuple[str, str], np.ndarray] = {}
    for label, own in zip(firsts["label"], settings, strict=True):
        regrets = finished.loc[finished["label"] == label, "regret"]
        key = json.dumps(own.get(panel)), _name(line, own.get(line))
        curves[key] = np.stack([regret.cumsum() for regret in regrets])
    drawn = [
        (_name(panel, json.loads(value)), {name: curves[value, name] for name in names}) for value in values[panel]
    ]
    return draw_panels(drawn, agent_lines(names), len(drawn))


def _name(setting: str, value: object) -> str:
    return f"{SYMBOLS.get(setting, setting.replace('_', ' '))} = {value}"
