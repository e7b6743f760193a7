"""Draw a reliability diagram: how often forecasts came true, against the probability that was forecast."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.pools.reliability.forecasts import BINS, reliability_of
from graph_bandit_lab.reports import COLORS, DASHES, STYLE

LEAST_DRAWN = 10  # forecasts in a bin


def draw_reliability(forecasts: pd.DataFrame, path: Path) -> None:
    """Draw a diagram for computed and one for measured values, with the number of forecasts below each.

    Bins of fewer than 10 forecasts have no point; the table has them.

    Args:
        forecasts: the table of `forecasts.read_forecasts`.
        path: PNG or SVG file to write.
    """
    kinds, players = forecasts["kind"].unique(), forecasts["player"].unique()
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(1.5 + 5 * len(kinds), 7.2), layout="constrained")
        panels = figure.subplots(2, len(kinds), sharex=True, squeeze=False, height_ratios=[3, 1])
        for (diagram, counts), kind in zip(panels.T, kinds, strict=True):
            diagram.plot([0, 1], [0, 1], color="#7A7A7A", linewidth=1)
            for index, player in enumerate(players):
                own = forecasts[(forecasts["kind"] == kind) & (forecasts["player"] == player)]
                if not own.empty:
                    _draw_player(diagram, counts, own, index)
            diagram.set(title=f"{kind} values", xlim=(-0.02, 1.02), ylim=(-0.03, 1.03), ylabel="share that came true")
            counts.set(yscale="log", xlabel="forecast that a molecule beats the best", ylabel="forecasts")
        handles = {
            text: line for axes in panels[0] for line, text in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(2, len(handles)))
        figure.savefig(path, dpi=110)


def _draw_player(diagram: Axes, counts: Axes, forecasts: pd.DataFrame, index: int) -> None:
    found = reliability_of(forecasts)
    drawn = found.count >= LEAST_DRAWN
    color, dash = COLORS[index % len(COLORS)], DASHES[index % len(DASHES)]
    label, middles = str(forecasts["player"].iloc[0]), found.forecast[drawn]
    diagram.plot(middles, found.share[drawn], dash, color=color, marker="o", linewidth=2, label=label)
    diagram.vlines(middles, found.low[drawn], found.high[drawn], color=color, linewidth=1.2, alpha=0.6)
    heights = np.where(found.count > 0, found.count, np.nan)
    counts.stairs(heights, np.linspace(0, 1, BINS + 1), color=color, linewidth=2, baseline=None)
