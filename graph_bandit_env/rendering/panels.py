"""The panels of a frame: bars over the graphs, and a curve over the rounds."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

# Colours of Okabe and Ito (2008), as in the laboratory's figures; graphs not on offer are grey.
OFFERED, PLAYED, BEST, ABSENT = "#56B4E9", "#D55E00", "#009E73", "#C8C8C8"
LINE = "#0072B2"
KINDS = (ABSENT, OFFERED, PLAYED)
THINNEST = (1 / 250, 1 / 250, 1 / 100)  # least width of a bar by kind, as a share of the panel's width
TITLE: dict[str, Any] = {"loc": "left", "x": -0.1, "pad": 9, "weight": "bold", "size": 9.5}
MAX_POINTS = 1000  # most points of a curve, and most bars of a kind if heights are sorted


class Bars:
    """Bars over the ranks of K graphs, in the colours of their kinds.

    Args:
        axes: empty axes.
        title: title of the panel.
        counts: True if heights are integers >= 0.
    """

    def __init__(self, axes: Axes, title: str, *, counts: bool = False) -> None:
        self.axes, self._counts = axes, counts
        axes.set_title(title, **TITLE)
        self._bars = PolyCollection([], linewidths=0)
        axes.add_collection(self._bars, autolim=False)
        self._zero = axes.axhline(0, color="#444444", linewidth=0.8)
        self._pointer = axes.axvline(0, color=PLAYED, linewidth=1.0, alpha=0.4, zorder=0.5)
        _mark_integers(axes)
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=counts, min_n_ticks=1))
        axes.yaxis.set_major_formatter(FuncFormatter(_short))

    def update(self, heights: NDArray[np.float64], kinds: NDArray[np.int64]) -> None:
        """Show the heights of all graphs in the order of their ranks.

        Args:
            heights: `(K,)`; sorted, unless they are counts.
            kinds: `(K,)`: indices into `KINDS`; later kinds are drawn on top.
        """
        shown = np.concatenate([self._select(heights, np.flatnonzero(kinds == kind)) for kind in range(len(KINDS))])
        half = np.maximum(0.8, np.array(THINNEST)[kinds[shown]] * len(heights)) / 2
        left, right, top = shown + 1 - half, shown + 1 + half, heights[shown]
        corners = [(left, 0 * top), (left, top), (right, top), (right, 0 * top)]
        quads: Any = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
        self._bars.set_verts(quads)  # an array (bars, 4, 2) is much faster than a list, which its type hints ask for
        self._bars.set_facecolor([KINDS[kind] for kind in kinds[shown]])
        played = np.flatnonzero(kinds == KINDS.index(PLAYED))
        self._pointer.set_visible(len(played) > 0)
        self._pointer.set_xdata([shown[-1] + 1] * 2)
        self.axes.set_xlim(0.5, len(heights) + 0.5)
        self.axes.set_ylim(*((0, max(1, heights.max()) * 1.1) if self._counts else _limits(heights)))

    def _select(self, heights: NDArray[np.float64], ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._counts:
            return ranks  # any of them may be a tall bar
        return ranks[:: -(-len(ranks) // MAX_POINTS) or 1]


class Curve:
    """Cumulative regret over the rounds, up to the horizon.

    Args:
        axes: empty axes.
    """

    def __init__(self, axes: Axes) -> None:
        self._axes = axes
        axes.set_xlabel("round")
        self._title = axes.set_title("", **TITLE)
        (self._line,) = axes.plot([], [], color=LINE, linewidth=1.8, clip_on=False)
        (self._head,) = axes.plot([], [], "o", color=LINE, markersize=5, clip_on=False)
        _mark_integers(axes)
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter(FuncFormatter(_short))

    def update(self, cumulative_regret: array[float], horizon: int) -> None:
        """Show R_0, R_1, ... R_t.

        Args:
            cumulative_regret: t + 1 numbers.
            horizon: T >= t.
        """
        last = len(cumulative_regret) - 1
        rounds = np.unique(np.linspace(0, last, min(last + 1, MAX_POINTS)).round().astype(int))
        self._line.set_data(rounds, [cumulative_regret[t] for t in rounds])
        self._head.set_data([last], [cumulative_regret[last]])
        self._title.set_text(f"cumulative regret: {cumulative_regret[last]:.4g}")
        self._axes.set_xlim(0, horizon)
        self._axes.set_ylim(0, 1.15 * cumulative_regret[last] or 1.0)


def _limits(heights: NDArray[np.float64]) -> tuple[float, float]:
    """Return limits of the axis; 0 is left out if all heights are so far from it that they would look equal."""
    low, high = float(heights.min()), float(heights.max())
    if low == high or low <= 0 <= high or min(abs(low), abs(high)) < 2 * (high - low):
        low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.08 * (high - low) or 1.0
    return low - margin * (low != 0), high + margin * (high != 0 or low == 0)


def _mark_integers(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value < 1e6 else f"{value:.3g}"))


def _short(value: float, position: object = None) -> str:
    return f"{value:.4g}"
