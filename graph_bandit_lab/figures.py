"""Figures of a report. No torch, and no global state of matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from graph_bandit_lab.statistics import confidence_interval

# Okabe and Ito (2008): told apart by colour-blind readers too. Random play is grey everywhere.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
RANDOM_COLOR = "#7A7A7A"
MAX_POINTS = 600

STYLE: dict[Any, Any] = {
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
}


def agent_colors(labels: Sequence[str]) -> dict[str, str]:
    """Give each agent a colour that depends on the set of agents only, not on who is best."""
    learners = sorted(label for label in labels if label != "random")
    colors = {label: COLORS[i % len(COLORS)] for i, label in enumerate(learners)}
    return {"random": RANDOM_COLOR, **colors}


def regret_figure(results: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Draw cumulative regret, and average regret on a logarithmic scale, of each agent.

    Args:
        results: of `load_results`; diverged repetitions are left out.
        order: labels of the agents, best first; those with no finished repetition are left out.

    Returns:
        Two panels: mean R_t, and mean R_t / t, with 95 % confidence bands.
    """
    colors = agent_colors(order)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12, 4.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        for label in order:
            rows = results[(results["label"] == label) & (results["status"] == "finished")]
            if len(rows):
                curves = np.stack([regret.cumsum() for regret in rows["regret"]])
                rounds = np.arange(1, curves.shape[1] + 1)
                _draw_mean_and_band(left, rounds, curves, label, colors[label])
                _draw_mean_and_band(right, rounds, curves / rounds, label, colors[label])
        left.set(title="Cumulative regret", xlabel="round $t$", ylabel="$R_t$ (reward units)")
        left.set_ylim(bottom=0)
        right.set(title="Average regret per round", xlabel="round $t$", ylabel="$R_t\\,/\\,t$ (reward units)")
        if any((line.get_ydata() > 0).any() for line in right.lines):
            right.set_yscale("log", nonpositive="mask")
        for axes in (left, right):
            axes.margins(x=0)
        handles, labels = left.get_legend_handles_labels()
        if handles:
            figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 4))
    return figure


def _draw_mean_and_band(axes: Axes, rounds: np.ndarray, curves: np.ndarray, label: str, color: str) -> None:
    kept = np.unique(np.linspace(0, len(rounds) - 1, min(len(rounds), MAX_POINTS)).round().astype(int))
    low, high = confidence_interval(curves[:, kept])
    axes.plot(rounds[kept], curves[:, kept].mean(axis=0), color=color, linewidth=2.2, label=label)
    axes.fill_between(rounds[kept], low, high, color=color, alpha=0.2, linewidth=0)
