"""Draw the figures of a report, without torch and without global state of matplotlib."""

from __future__ import annotations

import itertools
import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Literal, cast

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from graph_bandit_lab.analysis.aggregates import Profile
from graph_bandit_lab.analysis.statistics import Quantity, mean_interval
from graph_bandit_lab.design.names import SYMBOLS, varying_settings
from graph_bandit_lab.reports.pages import COLORS, DASHES, STYLE

RANDOM_COLOR = "#7A7A7A"
HOME = {  # index of an agent's own colour
    **{"gnn-ts": 0, "nn-ts": 0, "gnn-ucb": 1, "nn-ucb": 1, "gnn-pe": 2, "nn-pe": 2},
    **{"gntk-ts": 3, "gntk-ucb": 4, "gntk-pe": 5},
}
MAX_POINTS = 600  # of a curve
LEGEND_WIDTH = 130  # characters in a row of the legend
LEGEND_ROW = 0.26  # inches
COLUMNS = 3  # of panels, unless the environments suggest another number
MAX_COLUMNS = 4
MAX_PANELS = 24
TITLE_WIDTH = 44  # characters in a line of a title
CUMULATIVE, SIMPLE = "cumulative regret $R_t$ (reward units)", "simple regret (reward units)"
EVENTS = {
    "mean_event": "$E^\\mu$: $|\\mu-f|\\leq\\nu\\sigma$ for all",
    "sample_event": "$E^\\sigma$: $|\\hat r-f|\\leq c_t\\nu\\sigma$ for all",
    "optimism_event": "$E^a$: $\\hat r-f>\\nu\\sigma$ for the best",
}


def agent_lines(labels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Give each agent a colour and a dash that depend only on the set of agents, not on their order.

    Agents of the zoo have fixed colours, and an NN agent has that of its GNN twin, dashed. The paper's six agents come
    first. All others get the remaining styles, starting with unused colours.
    """
    learners = sorted({*labels} - {"random"}, key=lambda label: ("(paper" not in label, label))
    names = {label: re.split("[:( ]", label, maxsplit=1)[0] for label in learners}
    lines = {"random": (RANDOM_COLOR, "-")}
    if len({*names.values()}) > 1:
        for label, name in names.items():
            style = (COLORS[HOME.get(name, 0)], "--" if name.startswith("nn-") else "-")
            if name in HOME and style not in lines.values():
                lines[label] = style
    taken = {color for color, _ in lines.values()}
    styles = [(color, dash) for dash in DASHES for color in COLORS if (color, dash) not in lines.values()]
    styles.sort(key=lambda style: style[0] in taken)
    left = sorted(label for label in learners if label not in lines)
    return lines | dict(zip(left, itertools.cycle(styles), strict=False))


def regret_figure(results: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Draw cumulative regret, and average regret on a logarithmic scale, of each agent.

    Args:
        results: from `load_results`. Diverged repetitions are skipped.
        order: labels of the agents, best first. Agents without a finished repetition are skipped.

    Returns:
        Two panels: mean R_t, and mean R_t / t, with 95 % confidence bands.
    """
    sums = results["regret"].map(np.cumsum)
    results = results.assign(cumulative=sums, average=sums.map(lambda sums: sums / np.arange(1, len(sums) + 1)))
    with mpl.rc_context(STYLE):
        figure, left, right = _draw_two_panels(results, order, {"cumulative": "nonnegative", "average": "nonnegative"})
        left.set(title="Cumulative regret", ylabel="$R_t$ (reward units)")
        highest = max((float(np.max(line.get_ydata())) for line in left.lines), default=0.0)
        left.set_ylim(0, min(left.get_ylim()[1], 2 * highest) or None)  # with few repetitions, bands extend far above
        right.set(title="Average regret per round", ylabel="$R_t\\,/\\,t$ (reward units)")
        _scale_logarithmically(right)
    return figure


def findings_figure(results: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Draw the simple regret, on a logarithmic scale, and the share of the top 1 % of each agent.

    Args:
        results: from `load_results`. Diverged repetitions, and those without the columns, are skipped.
        order: labels of the agents, best first.

    Returns:
        Two panels: means with 95 % confidence bands.
    """
    with mpl.rc_context(STYLE):
        figure, left, right = _draw_two_panels(results, order, {"simple_regret": "nonnegative", "top_recall": "share"})
        left.set(title="Simple regret of the recommended graph", ylabel="$\\mu(G^*)-\\mu(\\hat G_t)$ (reward units)")
        _scale_logarithmically(left)
        right.set(title="Share of the top 1 % that was played", ylabel="share of graphs", ylim=(-0.03, 1.03))
    return figure


def diagnostics_figure(results: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Draw the diagnostics of each round: events of the analysis, elliptical potential, effective dimension, errors.

    Args:
        results: from `load_results`. Repetitions without diagnostics are skipped.
        order: labels of the agents.

    Returns: six panels, means over repetitions with 95 % confidence bands.
    """
    diagnosed = results[results["diagnostics"].map(bool) & (results["status"] == "finished")]
    lines, order = agent_lines(order), [label for label in order if (diagnosed["label"] == label).any()]
    quantities: list[Quantity] = ["share", "share", "share", "nonnegative", "nonnegative", "nonnegative"]
    bound = {"its bound, $2\\,\\log\\det(U_t/\\mathrm{ridge})$": ("#444444", ":")}
    with mpl.rc_context(STYLE):
        figure, panels = _make_figure(6, 3, (12, 4.0), {label: lines[label] for label in order} | bound)
        for label in order:
            rows = diagnosed.loc[diagnosed["label"] == label, "diagnostics"]
            recorded = {name: np.stack([row[name] for row in rows]) for name in rows.iloc[0]}
            rounds = np.arange(1, recorded["potential"].shape[1] + 1)
            shares = [recorded[name].cumsum(axis=1) / rounds for name in EVENTS]
            others = [recorded[name] for name in ("effective_dimension", "misfit")]
            curves = [*shares, recorded["potential"].cumsum(axis=1), *others]
            for axes, values, quantity in zip(panels, curves, quantities, strict=True):
                if not np.isnan(values).all():
                    _draw(axes, values, lines[label], quantity)
            after = np.append(recorded["log_determinant"][:, 1:], np.full((len(rows), 1), np.nan), axis=1)
            panels[3].plot(rounds, 2 * after.mean(axis=0), ":", color=lines[label][0], linewidth=1.6)
        titles = [*EVENTS.values(), "Uncertainty played", "Effective dimension so far", "Errors of forecasts"]
        for axes, title in zip(panels, titles, strict=True):
            axes.set(title=title, xlabel="round $t$")
            axes.title.set_fontsize(12.5)
        for axes in panels[:3]:
            axes.set(ylim=(-0.03, 1.03), ylabel="share of rounds so far")
        highest = max((float(np.nanmax(line.get_ydata())) for line in panels[3].lines[::2]), default=1.0)
        # Lines come in pairs: a sum and its bound. A bound far above the sums would flatten them.
        panels[3].set(ylabel="$\\sum_s\\,\\min\\{1,\\,\\sigma_s^2\\}$", ylim=(0, 2.0 * highest))
        panels[4].set(ylabel="$\\tilde d$ at horizon $t$", ylim=(0, None))
        panels[5].set(ylabel="1 is expected", ylim=(0, None))
    return figure


def panels_figure(
    results: pd.DataFrame,
    order: Sequence[str],
    names: Mapping[str, str],
    lines: Mapping[str, tuple[str, str]],
    measure: str = "regret",
) -> Figure:
    """Draw cumulative regret on each environment: mean and standard deviation over repetitions, as in the paper.

    A single varying setting fills a row. For a product of two, rows are the values of the setting with fewer values,
    and columns are those of the other, as in Figures 1 and 2 of the paper. Otherwise, the given order is kept.

    Args:
        results: from `load_results`. Unfinished repetitions are skipped.
        order: labels of the agents, best first.
        names: titles by environment key.
        lines: colour and dash by label.
        measure: "regret", or "simple_regret", which is not summed and is drawn only if it was recorded.

    Returns:
        A panel for each of the first 24 environments.
    """
    firsts = results.drop_duplicates("environment_key")
    keys, environments = list(firsts["environment_key"]), list(firsts["environment"])
    places, columns = list(range(len(keys))), min(COLUMNS, len(keys))
    cells = _product(environments) or {}
    if len(varying_settings(environments)) == 1 and len(keys) <= MAX_COLUMNS:
        columns = len(keys)
    elif 0 < len({column for _, column in cells}) <= MAX_COLUMNS:
        places, columns = list(cells.values()), len({column for _, column in cells})
    finished = results[(results["status"] == "finished") & results[measure].notna()]
    groups = dict(list(finished.groupby(["environment_key", "label"])[measure]))
    drawn = [
        (names[keys[place]], {label: groups[keys[place], label] for label in order if (keys[place], label) in groups})
        for place in places[:MAX_PANELS]
    ]
    return _draw_panels(drawn, lines, columns, CUMULATIVE if measure == "regret" else SIMPLE)


def settings_figure(results: pd.DataFrame) -> Figure | None:
    """Draw an agent's cumulative regret by its settings, mean and standard deviation over repetitions.

    Args:
        results: from `load_results`, on one environment.

    Returns:
        A panel for each value of the setting with fewer values, and a line for each value of the other. None unless
        the results are those of one agent under the product of two settings.
    """
    finished = results[results["status"] == "finished"]
    firsts = finished.drop_duplicates("label")
    cells = _product(list(firsts["agent_settings"])) if finished["agent"].nunique() == 1 else None
    if cells is None or len({panel for panel, _ in cells}) > MAX_COLUMNS:
        return None
    panels: dict[str, dict[str, pd.Series[float]]] = {}
    for (panel, line), place in cells.items():
        panels.setdefault(panel, {})[line] = finished.loc[finished["label"] == firsts["label"].iloc[place], "regret"]
    return _draw_panels(list(panels.items()), agent_lines(list(panels[panel])), len(panels), CUMULATIVE)


def profiles_figure(fields: Sequence[Sequence[Profile]], lines: Mapping[str, tuple[str, str]]) -> Figure:
    """Draw the performance profiles of agents, with 95 % intervals: a panel for each field.

    Args:
        fields: profiles of the agents of each field, best first.
        lines: colour and dash by label.
    """
    shown = {profile.label: lines[profile.label] for profiles in fields for profile in profiles}
    with mpl.rc_context(STYLE):
        figure, panels = _make_figure(len(fields), min(len(fields), 2), (12, 4.4), shown)
        for axes, profiles in zip(panels, fields, strict=True):
            for profile in profiles:
                color, dash = lines[profile.label]
                axes.step(profile.thresholds, profile.shares, dash, where="post", color=color, linewidth=2.2)
                bounds = profile.thresholds, profile.low, profile.high
                axes.fill_between(*bounds, step="post", color=color, alpha=0.12, linewidth=0)
            axes.set(xlabel="relative regret $\\tau$", ylabel="share of trials up to $\\tau$", ylim=(-0.02, 1.02))
    return figure


def _product(all_settings: Sequence[Mapping[str, object]]) -> dict[tuple[str, str], int] | None:
    """Return the places of settings by the names of the two varying values, or None unless they are a full product.

    The setting with fewer values comes first.
    """
    varying = varying_settings(all_settings)
    if len(varying) != 2:
        return None
    values = {key: list(dict.fromkeys(json.dumps(own.get(key)) for own in all_settings)) for key in varying}
    pair = sorted(varying, key=lambda key: len(values[key]))
    places = {tuple(json.dumps(own.get(key)) for key in pair): place for place, own in enumerate(all_settings)}
    wanted = list(itertools.product(*(values[key] for key in pair)))
    if len(wanted) != len(all_settings) or not places.keys() >= {*wanted}:
        return None
    first, second = (SYMBOLS.get(key, key.replace("_", " ")) for key in pair)
    return {(f"{first} = {json.loads(a)}", f"{second} = {json.loads(b)}"): places[a, b] for a, b in wanted}


def _make_figure(
    count: int, columns: int, size: tuple[float, float], lines: Mapping[str, tuple[str, str]]
) -> tuple[Figure, list[Axes]]:
    """Return a figure with some panels, and one legend below them.

    Args:
        count: number of panels.
        columns: panels in a row.
        size: width of the figure, and height of a row, in inches.
        lines: colour and dash of each name in the legend.
    """
    width, height = size
    rows, longest = -(-count // columns), max(map(len, lines), default=0) + 8
    in_a_row = max(1, min(len(lines), int(LEGEND_WIDTH * width / 12.6) // longest))
    height = height * rows + LEGEND_ROW * (-(-len(lines) // in_a_row) + 1)
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in panels[:count]:
        axes.margins(x=0)
    for axes in panels[count:]:
        axes.axis("off")
    if lines:
        dashes = [cast("Literal['-', '--', ':', '-.']", dash) for _, dash in lines.values()]
        colors = [color for color, _ in lines.values()]
        handles = [Line2D([], [], color=c, linestyle=d, linewidth=2.2) for c, d in zip(colors, dashes, strict=True)]
        figure.legend(handles, list(lines), loc="outside lower center", ncols=in_a_row)
    return figure, panels[:count]


def _draw_two_panels(
    results: pd.DataFrame, order: Sequence[str], columns: Mapping[str, Quantity]
) -> tuple[Figure, Axes, Axes]:
    """Draw two columns of arrays of each agent, each in its own panel."""
    lines, finished = agent_lines(order), results[results["status"] == "finished"].dropna(subset=[*columns])
    groups = dict(list(finished.groupby("label")))
    shown = {label: lines[label] for label in order if label in groups}
    figure, (left, right) = _make_figure(2, 2, (12, 4.4), shown)
    for label, line in shown.items():
        several = groups[label]["trajectory"].nunique() > 1
        for axes, (column, quantity) in zip((left, right), columns.items(), strict=True):
            _draw(axes, np.stack([*groups[label][column]]), line, quantity if several else None)
            axes.set_xlabel("round $t$")
    return figure, left, right


def _draw_panels(
    panels: Sequence[tuple[str, Mapping[str, pd.Series[float]]]],
    lines: Mapping[str, tuple[str, str]],
    columns: int,
    name: str,
) -> Figure:
    """Draw panels of means and standard deviations.

    Args:
        panels: title, and the arrays of repetitions by label, row by row.
        lines: colour and dash by label.
        columns: panels in a row.
        name: axis label of the curves. `CUMULATIVE` sums them up.
    """
    shown = {label: lines[label] for _, arrays in panels for label in arrays}
    with mpl.rc_context(STYLE):
        figure, axes_of = _make_figure(len(panels), columns, (max(7.0, 4.2 * columns), 3.1), shown)
        for axes, (title, arrays) in zip(axes_of, panels, strict=True):
            for label, rows in arrays.items():
                curves = np.stack([*rows])
                _draw(axes, curves.cumsum(axis=1) if name == CUMULATIVE else curves, lines[label], "deviation")
            axes.set_title(textwrap.fill(title, TITLE_WIDTH), fontsize=9 if len(title) > 36 else 11)
            axes.set_ylim(bottom=0)
            axes.tick_params(labelsize=10)
        for axes in axes_of[-columns:]:
            axes.set_xlabel("round $t$", fontsize=12)
        figure.supylabel(name, fontsize=12)
    return figure


def _draw(axes: Axes, curves: np.ndarray, line: tuple[str, str], band: Quantity | Literal["deviation"] | None) -> None:
    """Draw a mean, and its 95 % interval, or the standard deviation, as a band."""
    count, (color, dash) = curves.shape[1], line
    most = MAX_POINTS // 4 if band == "deviation" else MAX_POINTS
    kept = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
    curves, mean = curves[:, kept], curves[:, kept].mean(axis=0)
    axes.plot(kept + 1, mean, dash, color=color, linewidth=2.2)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    if band == "deviation":
        deviation = curves.std(axis=0)
        axes.fill_between(
            kept + 1, np.clip(mean - deviation, 0, None), mean + deviation, color=color, alpha=0.12, linewidth=0
        )
    elif band is not None:
        axes.fill_between(kept + 1, *mean_interval(curves, band), color=color, alpha=0.2, linewidth=0)


def _scale_logarithmically(axes: Axes) -> None:
    """Scale the means of an axis logarithmically. If some are 0, it has a tick below the lowest power of ten."""
    means = np.concatenate([[], *(np.asarray(line.get_ydata(), float) for line in axes.lines)])
    positive = means[means > 0]
    if not len(positive):
        return
    lowest, highest = positive.min(), positive.max()
    if len(positive) == len(means):
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(lowest / 2, 2 * highest)
        return
    floor = 10 ** np.floor(np.log10(lowest))
    axes.set_yscale("symlog", linthresh=floor, linscale=0.5)  # linear from 0 to `floor`
    axes.set_ylim(-floor / 5, 2 * highest)
