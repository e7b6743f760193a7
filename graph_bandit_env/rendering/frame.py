"""The figure of an episode: the graph played last, mean rewards, plays and regret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from graph_bandit_env.rendering.pictures import PIXELS, draw_graph

if TYPE_CHECKING:
    from graph_bandit_env.bandit.episode import Episode

WIDTH, HEIGHT, DPI = 960, 540, 100  # even, for video encoders
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "text.usetex": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 9.5,
}
OFFERED, PLAYED, BEST, ABSENT = (
    "#56B4E9",
    "#D55E00",
    "#009E73",
    "#C8C8C8",
)  # of Okabe and Ito (2008); grey is not theirs
LINE = "#0072B2"
MOST_POINTS = 1000  # of a curve
GRAPH_PANEL = (20 / WIDTH, 45 / HEIGHT, PIXELS / WIDTH, PIXELS / HEIGHT)  # whole pixels: a molecule stays sharp
TEXT_WIDTH, PANEL_WIDTH = 0.44, 0.395  # shares of the figure


def draw(episode: Episode, mask: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
    """Draw an episode up to its latest round, without matplotlib's global state and the user's style.

    Args:
        episode: the episode.
        mask: the graphs that the next round offers, `(K,)` or longer; None when the episode is over.

    Returns:
        `(540, 960, 3)`.
    """
    with style.context(["default", STYLE]):
        figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI, facecolor="white")
        canvas: Any = FigureCanvasAgg(figure)
        graph = figure.add_axes(GRAPH_PANEL, xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
        graph.set_axis_off()
        if episode.played is None:
            graph.text(0, 0, "no graph played yet", ha="center", size=11)
        else:
            _write(figure, 0.028, draw_graph(graph, episode.graph_set, episode.played), 8.5)
        for y, words, size in zip((0.945, 0.9, 0.86), _headlines(episode, mask is None), (11.5, 10, 10), strict=True):
            _write(figure, y, words, size)
        _draw_bars(figure, episode, mask)
        _draw_regret(figure, episode)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _write(figure: Figure, y: float, words: str, size: float) -> None:
    """Write a line, cut with an ellipsis where its room ends."""
    words = " ".join(words.split())
    text = figure.text(0.025, y, words, size=size, parse_math=False)
    while words and (width := text.get_window_extent().width) > TEXT_WIDTH * figure.bbox.width:
        words = words[: min(int(len(words) * TEXT_WIDTH * figure.bbox.width / width), len(words) - 1)]
        text.set_text(f"{words}…")


def _draw_bars(figure: Figure, episode: Episode, mask: NDArray[np.bool_] | None) -> None:
    """Draw mean rewards and plays of all graphs, sorted by mean reward; colours say what can be played."""
    count = len(episode.mean_rewards)
    order = np.argsort(-episode.mean_rewards, kind="stable")
    on_offer = np.zeros(count, np.bool_) if mask is None else mask[:count]
    colors = np.where(on_offer, OFFERED, ABSENT)
    widths = np.full(count, max(0.8 * PANEL_WIDTH * figure.get_figwidth() * 72 / count, 1.0))  # in points
    if episode.played is not None:
        colors[episode.played], widths[episode.played] = PLAYED, max(widths[0], 2.5)
    layers = np.argsort(colors[order] == PLAYED, kind="stable")  # what was played is on top
    means = _add_axes(figure, 0.7, 0.22, "mean reward")
    plays = _add_axes(figure, 0.45, 0.155, "times played")
    for axes, heights in ((means, episode.mean_rewards), (plays, episode.counts)):
        shown = order[layers]
        axes.vlines(layers + 1, 0, heights[shown], colors[shown].tolist(), linewidth=widths[shown])
        axes.axhline(0, color="#444444", linewidth=0.8)
        axes.set_xlim(0.5, count + 0.5)
    means.set_ylim(*_limits(episode.mean_rewards))
    plays.set_ylim(0, 1.1 * max(1, episode.counts.max()))
    plays.yaxis.set_major_locator(MaxNLocator(4, integer=True, min_n_ticks=1))
    plays.set_xlabel("graphs, sorted by mean reward")
    star: dict[str, Any] = {"color": BEST, "marker": "*", "markersize": 9, "linestyle": "", "clip_on": False}
    means.plot([1], [1.035], transform=means.get_xaxis_transform(), **star)
    kinds = {"last played": PLAYED, "on offer": OFFERED, "not on offer": ABSENT}
    marks = [Line2D([], [], color=color, linewidth=6, label=label) for label, color in kinds.items()]
    figure.legend(
        handles=[Line2D([], [], label="best", **star), *marks],
        loc="lower right",
        bbox_to_anchor=(0.975, 0.937),
        ncols=4,
        frameon=False,
        fontsize=8,
        handlelength=0.9,
        columnspacing=1.0,
    )


def _draw_regret(figure: Figure, episode: Episode) -> None:
    regret, last = episode.cumulative_regret, episode.round
    axes = _add_axes(figure, 0.105, 0.195, f"cumulative regret: {regret[last]:.4g}")
    rounds = np.unique(np.linspace(0, last, min(last + 1, MOST_POINTS)).round().astype(int))
    axes.plot(rounds, [regret[t] for t in rounds], color=LINE, linewidth=1.8, clip_on=False)
    axes.plot([last], [regret[last]], "o", color=LINE, markersize=5, clip_on=False)
    axes.set_xlabel("round")
    axes.set_xlim(0, episode.horizon)
    axes.set_ylim(0, 1.15 * regret[last] or 1.0)


def _add_axes(figure: Figure, bottom: float, height: float, title: str) -> Axes:
    axes = figure.add_axes((0.565, bottom, PANEL_WIDTH, height))
    axes.set_title(title, x=-0.1, pad=9)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x < 1e6 else f"{x:.3g}"))
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.4g}"))
    return axes


def _limits(heights: NDArray[np.float64]) -> tuple[float, float]:
    """Return limits of the axis; 0 is left out if all heights are so far from it that they would look equal."""
    low, high = float(heights.min()), float(heights.max())
    if low == high or low <= 0 <= high or min(abs(low), abs(high)) < 2 * (high - low):
        low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.08 * (high - low) or 1.0
    return low - margin * (low != 0), high + margin * (high != 0 or low == 0)


def _headlines(episode: Episode, over: bool) -> tuple[str, str, str]:
    rounds = f"Round {episode.round:,} of {episode.horizon:,}" + ", episode over" * over
    if episode.played is None:
        return rounds, f"{len(episode.graph_set):,} graphs to choose from", ""
    k = episode.played
    ids = getattr(episode.graph_set, "ids", None)
    name = f": {ids[k]}" if ids is not None and ids[k] != str(k) else ""
    means = f"mean {episode.mean_rewards[k]:.4g}, best mean {episode.mean_rewards.max():.4g}"
    return rounds, f"Graph {k}{name}", f"Reward {episode.reward:.4g} ({means})"
