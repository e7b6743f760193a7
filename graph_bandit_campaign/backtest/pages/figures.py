"""Figures of a backtest: what was found by when, and forecasts against what came. No torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from graph_bandit_campaign.backtest.summary import Bin, Curves, Summary
from graph_bandit_campaign.backtest.table import TOP
from graph_bandit_lab.reports import COLORS, DASHES, STYLE

GREY = "#7A7A7A"  # random choice
WIDE = (12.4, 4.8)  # inches
SHAPE = (6.2, 4.4)


def lines_of(summary: Summary) -> dict[str, tuple[str, str]]:
    """Give each player a colour and a dash: agents first, random choice in grey."""
    players = [player.label for player in (*summary.advisors, *summary.others[1:])]
    styles = [(color, dash) for dash in DASHES for color in COLORS]
    return dict(zip(players, cycle(styles), strict=False)) | {summary.random.label: (GREY, "-")}


def progress_figure(summary: Summary, target: str) -> Figure:
    """Draw the best value and how many of the ten best were found, against the number of measurements."""
    lines = lines_of(summary)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=WIDE, layout="constrained")
        left, right = figure.subplots(1, 2)
        for player in (*summary.advisors, *summary.others):
            _draw(left, summary, player, player.best, lines[player.label])
            _draw(right, summary, player, player.top_found, lines[player.label])
        left.set(title="Best value found", ylabel=target.replace("$", r"\$"))
        right.set(title="Of the ten best molecules, found", ylabel="molecules", ylim=(-0.3, TOP + 0.3))
        for axes in (left, right):
            axes.set_xlabel("measurements")
            axes.margins(x=0)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels) if len(labels) <= 5 else 3)
    return figure


def forecasts_figure(forecasts: Mapping[str, Sequence[Bin]], lines: Mapping[str, tuple[str, str]]) -> Figure:
    """Draw the share of molecules that beat the best so far against the probability that was forecast."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=SHAPE, layout="constrained")
        axes = figure.subplots()
        axes.axline((0, 0), (1, 1), color=GREY, ls="--", lw=1.2)
        highest = 0.05
        for label, bins in forecasts.items():
            promised = [forecast.promised / forecast.count for forecast in bins]
            came = [forecast.came / forecast.count for forecast in bins]
            axes.plot(promised, came, "o-", color=lines[label][0], lw=2, label=label)
            highest = max(highest, *promised, *came)
        axes.set(xlabel="forecast probability", ylabel="share that beat the best")
        axes.set(xlim=(0, 1.08 * highest), ylim=(0, 1.08 * highest))
        if len(forecasts) > 1:
            axes.legend()
    return figure


def _draw(axes: Axes, summary: Summary, player: Curves, curves: NDArray[np.float64], line: tuple[str, str]) -> None:
    """Draw a mean over starts with its 95 % band; all players share the random measurements before it."""
    begin, (color, dash) = summary.table.start, line
    measured = np.arange(begin, curves.shape[1] + 1)
    mean, low, high = summary.bootstrap.interval(curves[:, begin - 1 :])
    axes.plot(measured, mean, dash, color=color, lw=2.2, label=player.label)
    axes.fill_between(measured, low, high, color=color, alpha=0.15, lw=0)
