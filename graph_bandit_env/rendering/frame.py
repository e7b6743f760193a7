"""The figure of an episode: the graph played last, mean rewards, plays and regret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.rendering.pictures import draw_graph

if TYPE_CHECKING:
    from graph_bandit_env.bandit.episode import Episode

SIZE, DPI = (9.6, 5.4), 100  # 960 x 540 pixels: even, for video encoders
STYLE: dict[Any, Any] = {
    "font.size": 8.5,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 9.5,
}
COLORS = {"last played": "#D55E00", "on offer": "#56B4E9", "not on offer": "#C8C8C8"}  # of Okabe and Ito (2008); grey
PANELS: Any = [["graph", "means"], ["graph", "plays"], ["graph", "regret"]]
PLACES = {"left": 0.02, "right": 0.97, "top": 0.85, "bottom": 0.09, "hspace": 0.75, "wspace": 0.2}


def draw(episode: Episode, mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Draw an episode up to its latest round, without matplotlib's global state and the user's style.

    Args:
        episode: the episode.
        mask: the graphs that the next round offers, `(K,)` or longer; none when the episode is over.

    Returns:
        `(540, 960, 3)`.
    """
    with style.context(["default", STYLE]):
        figure = Figure(figsize=SIZE, dpi=DPI)
        canvas: Any = FigureCanvasAgg(figure)
        panels = figure.subplot_mosaic(PANELS, gridspec_kw=PLACES)
        _draw_played(panels["graph"], episode)
        kinds = np.where(mask[: len(episode.counts)], "on offer", "not on offer").astype(object)
        if episode.played is not None:
            kinds[episode.played] = "last played"
        order = np.argsort(-episode.mean_rewards, kind="stable")
        for name, heights in (("means", episode.mean_rewards), ("plays", episode.counts)):
            axes, colors = panels[name], [COLORS[kind] for kind in kinds[order]]
            axes.vlines(range(len(order)), 0, heights[order], colors, linewidth=max(200 / len(order), 1))  # in points
            axes.axhline(0, color="#444444", linewidth=0.8)
            axes.set_xlim(-0.6, len(order) - 0.4)
        panels["means"].set_title("mean reward, the best graph first", y=1.08)
        panels["plays"].set_title("times played")
        marks = [Line2D([], [], color=color, linewidth=6, label=label) for label, color in COLORS.items()]
        figure.legend(handles=marks, loc="upper right", ncols=len(marks), frameon=False, handlelength=0.9)
        axes, regret = panels["regret"], episode.cumulative_regret
        axes.plot(regret, color="#0072B2", linewidth=1.8, marker="o", markersize=5, markevery=[-1], clip_on=False)
        axes.set(
            title=f"cumulative regret: {regret[-1]:.4g}", xlabel="round", xlim=(0, episode.horizon), ylim=(0, None)
        )
        for name, axes in panels.items():
            axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.yaxis.set_major_locator(MaxNLocator(3, integer=name == "plays"))
            axes.yaxis.set_major_formatter("{x:.4g}")
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _draw_played(axes: Axes, episode: Episode) -> None:
    words, k = [f"Round {len(episode.cumulative_regret) - 1:,} of {episode.horizon:,}"], episode.played
    axes.set(xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
    axes.set_axis_off()
    if k is not None:
        caption = draw_graph(axes, episode.graph_set, k)
        axes.text(-1, -1.1, caption[:60])
        name = episode.graph_set.ids[k] if isinstance(episode.graph_set, GraphPool) else ""
        words.append(" ".join(f"Graph {k} {name}".split())[:40])
        words.append(f"Reward {episode.reward:.4g}")
        words.append(f"Mean {episode.mean_rewards[k]:.4g}, best mean {episode.mean_rewards.max():.4g}")
    axes.set_title("\n".join(words))
