"""Draw the figures of a report, without torch and without global state of matplotlib."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from graph_bandit_lab.analysis.statistics import Quantity, mean_interval

# Okabe and Ito (2008): colour-blind readers can distinguish them. Random play is always grey.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
RANDOM_COLOR = "#7A7A7A"
DASHES = ("-", "--", ":", "-.")
STROKES = {"-": "none", "--": "6 3", ":": "2 2", "-.": "7 2 2 2"}  # the same as `stroke-dasharray`
HOME = {  # index of an agent's own colour
    **{"gnn-ts": 0, "nn-ts": 0, "gnn-ucb": 1, "nn-ucb": 1, "gnn-pe": 2, "nn-pe": 2},
    **{"gntk-ts": 3, "gntk-ucb": 4, "gntk-pe": 5},
}
MAX_POINTS = 600
LEGEND_WIDTH = 130  # characters in a row of the legend
LEGEND_ROW = 0.26  # inches

EVENTS = {
    "mean_event": "$E^\\mu$: $|\\mu-f|\\leq\\nu\\sigma$ for all",
    "sample_event": "$E^\\sigma$: $|\\hat r-f|\\leq c_t\\nu\\sigma$ for all",
    "optimism_event": "$E^a$: $\\hat r-f>\\nu\\sigma$ for the best",
}

STYLE: dict[Any, Any] = {  # matplotlib declares 300 literal keys
    "font.family": "DejaVu Sans",
    "font.size": 13,
    "axes.titlesize": 14,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "legend.frameon": False,
    "legend.fontsize": 12,
}


def agent_lines(labels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Give each agent a colour and a dash that depend only on the set of agents, not on their order.

    Agents of the zoo have their own colours, and an NN agent has that of its GNN twin, dashed. Where the paper's six
    play, they come first. All others take what is left, starting with colours that no agent has.
    """
    learners = sorted({*labels} - {"random"}, key=lambda label: ("(paper" not in label, label))
    lines = {"random": (RANDOM_COLOR, "-")}
    if len({_name_of(label) for label in learners}) > 1:
        for label in learners:
            name = _name_of(label)
            style = (COLORS[HOME.get(name, 0)], "--" if name.startswith("nn-") else "-")
            if name in HOME and style not in lines.values():
                lines[label] = style
    taken = {color for color, _ in lines.values()}
    styles = [(color, dash) for dash in DASHES for color in COLORS if (color, dash) not in lines.values()]
    styles.sort(key=lambda style: style[0] in taken)
    left = sorted(label for label in learners if label not in lines)
    return lines | dict(zip(left, itertools.cycle(styles), strict=False))


def svg_lines(labels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return colour and `stroke-dasharray` of each agent, for a line next to its name that looks as in the figures."""
    return {label: (color, STROKES[dash]) for label, (color, dash) in agent_lines(labels).items()}


def _name_of(label: str) -> str:
    """Return the agent's name at the beginning of a label: `name:setting=value`, `name (remark)`."""
    return re.split("[:( ]", label, maxsplit=1)[0]


def regret_figure(results: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Draw cumulative regret, and average regret on a logarithmic scale, of each agent.

    Args:
        results: of `load_results`; diverged repetitions are left out.
        order: labels of the agents, best first. Agents with no finished repetition are left out.

    Returns:
        Two panels: mean R_t, and mean R_t / t, with 95 % confidence bands.
    """
    with mpl.rc_context(STYLE):
        figure, left, right = _draw_two_panels(results, order, _regret_curves, ("nonnegative", "nonnegative"))
        left.set(title="Cumulative regret", ylabel="$R_t$ (reward units)")
        highest = max((float(np.max(line.get_ydata())) for line in left.lines), default=0.0)
        left.set_ylim(0, min(left.get_ylim()[1], 2 * highest) or None)  # of few repetitions, bands go far above
        right.set(title="Average regret per round", ylabel="$R_t\\,/\\,t$ (reward units)")
        _scale_logarithmically(right)
    return figure


def findings_figure(results: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Draw the simple regret, on a logarithmic scale, and the share of the top 1 % of each agent.

    Args:
        results: of `load_results`; diverged repetitions, and those without the columns, are left out.
        order: labels of the agents, best first.

    Returns:
        Two panels: means with 95 % confidence bands.
    """
    with mpl.rc_context(STYLE):
        recorded = results[results["simple_regret"].notna()]
        figure, left, right = _draw_two_panels(recorded, order, _findings_curves, ("nonnegative", "share"))
        left.set(title="Simple regret of the recommended graph", ylabel="$\\mu(G^*)-\\mu(\\hat G_t)$ (reward units)")
        _scale_logarithmically(left)
        right.set(title="Share of the top 1 % that was played", ylabel="share of graphs", ylim=(-0.03, 1.03))
    return figure


def diagnostics_figure(results: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Draw the diagnostics of each round: events of the analysis, elliptical potential, effective dimension.

    Args:
        results: of `load_results`; repetitions without diagnostics are left out.
        order: labels of the agents.

    Returns:
        Five panels, means over repetitions with 95 % confidence bands.
    """
    lines = agent_lines(order)
    quantities: list[Quantity] = ["share", "share", "share", "nonnegative", "nonnegative"]
    diagnosed = results[results["diagnostics"].map(bool) & (results["status"] == "finished")]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12, 8.6), layout="constrained")
        panels = figure.subplots(2, 3)
        for label in order:
            rows = diagnosed.loc[diagnosed["label"] == label, "diagnostics"]
            if rows.empty:
                continue
            recorded = {name: np.stack([row[name] for row in rows]) for name in rows.iloc[0]}
            rounds = np.arange(1, recorded["potential"].shape[1] + 1)
            shares = [recorded[name].cumsum(axis=1) / rounds for name in EVENTS]
            curves = [*shares, recorded["potential"].cumsum(axis=1), recorded["effective_dimension"]]
            for axes, values, quantity in zip(panels.flat, curves, quantities, strict=False):
                if not np.isnan(values).all():
                    _draw_mean_and_band(axes, rounds, values, label, lines[label], quantity)
            after = np.append(recorded["log_determinant"][:, 1:], np.full((len(rows), 1), np.nan), axis=1)
            panels.flat[3].plot(rounds, 2 * after.mean(axis=0), ":", color=lines[label][0], linewidth=1.6)
        titles = [*EVENTS.values(), "Uncertainty played", "Effective dimension so far"]
        for axes, title in zip(panels.flat, titles, strict=False):
            axes.set(title=title, xlabel="round $t$")
            axes.title.set_fontsize(12.5)
            axes.margins(x=0)
            axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        for axes in panels.flat[:3]:
            axes.set(ylim=(-0.03, 1.03), ylabel="share of rounds so far")
        highest = max((float(np.nanmax(line.get_ydata())) for line in panels.flat[3].lines[::2]), default=1.0)
        # Lines come in pairs: a sum and its bound. A bound far above the sums would flatten them.
        panels.flat[3].set(ylabel="$\\sum_s\\,\\min\\{1,\\,\\sigma_s^2\\}$", ylim=(0, 2.0 * highest))
        panels.flat[4].set(ylabel="$\\tilde d$ at horizon $t$", ylim=(0, None))
        panels.flat[5].axis("off")
        handles, labels = panels.flat[3].get_legend_handles_labels()
        bound = Line2D([], [], color="#444444", linestyle=":", linewidth=1.6)
        panels.flat[5].legend(
            [*handles, bound], [*labels, "its bound, $2\\,\\log\\det(U_t/\\mathrm{ridge})$"], loc="center left"
        )
    return figure


def _regret_curves(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    cumulative = np.stack([regret.cumsum() for regret in rows["regret"]])
    return cumulative, cumulative / np.arange(1, cumulative.shape[1] + 1)


def _findings_curves(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return np.stack(list(rows["simple_regret"])), np.stack(list(rows["top_share"]))


def _draw_two_panels(
    results: pd.DataFrame,
    order: Sequence[str],
    curves_of: Callable[[pd.DataFrame], tuple[np.ndarray, np.ndarray]],
    quantities: tuple[Quantity, Quantity],
) -> tuple[Figure, Axes, Axes]:
    """Draw two curves of each agent, each in its own panel, with one legend."""
    lines = agent_lines(order)
    columns = max(1, min(4, len(order), LEGEND_WIDTH // (max(map(len, order), default=0) + 8)))
    rows_of_legend = math.ceil(len(order) / columns)
    figure = Figure(figsize=(12, 4.4 + LEGEND_ROW * (rows_of_legend + 1)), layout="constrained")
    left, right = figure.subplots(1, 2)
    for label in order:
        rows = results[(results["label"] == label) & (results["status"] == "finished")]
        for axes, curves, quantity in zip(
            (left, right), curves_of(rows) if len(rows) else (), quantities, strict=False
        ):
            rounds, several = np.arange(1, curves.shape[1] + 1), rows["trajectory"].nunique() > 1
            _draw_mean_and_band(axes, rounds, curves, label, lines[label], quantity if several else None)
    for axes in (left, right):
        axes.set_xlabel("round $t$")
        axes.margins(x=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    handles, labels = left.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    return figure, left, right


def _draw_mean_and_band(
    axes: Axes,
    rounds: np.ndarray,
    curves: np.ndarray,
    label: str,
    line: tuple[str, str],
    quantity: Quantity | None,
) -> None:
    """Draw a mean, and its 95 % interval if its quantity is given."""
    kept = np.unique(np.linspace(0, len(rounds) - 1, min(len(rounds), MAX_POINTS)).round().astype(int))
    color, dash = line
    axes.plot(rounds[kept], curves[:, kept].mean(axis=0), dash, color=color, linewidth=2.2, label=label)
    if quantity is not None:
        axes.fill_between(rounds[kept], *mean_interval(curves[:, kept], quantity), color=color, alpha=0.2, linewidth=0)


def _scale_logarithmically(axes: Axes) -> None:
    means = [np.asarray(line.get_ydata(), float) for line in axes.lines]
    positive = np.concatenate([mean[mean > 0] for mean in means]) if means else np.array([])
    if len(positive):
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(positive.min() / 2, positive.max() * 2)
