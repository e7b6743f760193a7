"""The figure of an episode, whose artists are made once and updated for each frame, in an array or a window."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, cast

import numpy as np
from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from numpy.typing import NDArray

from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.rendering.episode import Episode
from graph_bandit_env.rendering.panels import ABSENT, BEST, KINDS, OFFERED, PLAYED, Bars, Curve
from graph_bandit_env.rendering.pictures import PIXELS, make_picture

WIDTH, HEIGHT = 960, 540  # even, for video encoders
DPI = 100
SIZE = (WIDTH / DPI, HEIGHT / DPI)  # inches


class ArrayScreen:
    """A figure that becomes an array, without matplotlib's global state."""

    def __init__(self) -> None:
        self.figure = Figure(figsize=SIZE, dpi=DPI)
        self._canvas: Any = FigureCanvasAgg(self.figure)

    def is_open(self) -> bool:
        """Return True: nobody can close an array."""
        return True

    def show(self) -> NDArray[np.uint8]:
        """Return the pixels of the figure, `(540, 960, 3)`."""
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[..., :3].copy()

    def close(self) -> None:
        """Do nothing: the figure is freed with its last reference."""


class WindowScreen:
    """A figure in its own window, which does not take the focus again once it is open.

    Raises:
        RuntimeError: if matplotlib cannot open a window.
    """

    def __init__(self) -> None:
        import matplotlib.pyplot as plt  # imported late, since the import chooses a backend

        try:
            self.figure: Figure = plt.figure(figsize=SIZE, dpi=DPI)
        except (ImportError, RuntimeError) as error:  # a backend that the user chose by name cannot be loaded
            raise RuntimeError(_explain(str(plt.rcParams["backend"]))) from error
        self._plt = plt
        self._manager = cast("Any", self.figure.canvas.manager)  # None only of a figure without a window
        if not _is_interactive(plt.get_backend(), self.figure.canvas):
            plt.close(self.figure)
            raise RuntimeError(_explain(plt.get_backend()))
        self._manager.set_window_title("GraphActionBandit-v0")
        self._manager.show()

    def is_open(self) -> bool:
        """Return True until the user closes the window."""
        return bool(self._plt.fignum_exists(self._manager.num))

    def show(self) -> None:
        """Draw, and process the events of the window without waiting for more."""
        self.figure.canvas.draw()
        self.figure.canvas.flush_events()

    def close(self) -> None:
        """Close the window."""
        self._plt.close(self.figure)


def _is_interactive(backend: str, canvas: Any) -> bool:
    from matplotlib.backends.registry import BackendFilter, backend_registry

    registry: Any = backend_registry
    in_browser = backend.lower() in registry.list_builtin(BackendFilter.INTERACTIVE)
    return in_browser or canvas.required_interactive_framework is not None


def _explain(backend: str) -> str:
    return (
        f'Expected a display and an interactive backend of matplotlib for `render_mode="human"`. Got `{backend}`, '
        'which opens no window. Use `render_mode="rgb_array"`, or connect a display and install tk or Qt for Python. '
        "Gymnasium's `check_env` tries all modes; `check_env(env, skip_render_check=True)` needs no display."
    )


NOTE = "#555555"
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "text.usetex": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}
CACHED_PICTURES = 64  # the picture of a molecule takes 0.5 MB
GRAPH_PANEL = (20 / 960, 45 / 540, PIXELS / 960, PIXELS / 540)  # whole pixels, so that a molecule stays sharp
TEXT_WIDTH = 0.44


class Frame:
    """Draw an episode into a figure.

    Args:
        figure: an empty figure, 16 to 9.
    """

    def __init__(self, figure: Figure) -> None:
        with style.context(["default", STYLE]):  # instead of the user's style
            figure.set_facecolor("white")
            self._figure = figure
            self._headlines = [
                figure.text(0.025, y, "", size=size, weight=weight, parse_math=False)
                for y, size, weight in ((0.945, 11.5, "bold"), (0.9, 10, "normal"), (0.86, 10, "normal"))
            ]
            self._caption = figure.text(0.025, 0.028, "", size=8.5, color=NOTE, parse_math=False)
            self._graph = figure.add_axes(GRAPH_PANEL, xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
            self._graph.set_axis_off()
            self._nothing = self._graph.text(0, 0, "no graph played yet", ha="center", size=11, color=NOTE)
            self._means = Bars(figure.add_axes((0.565, 0.7, 0.395, 0.22)), "mean reward")
            self._counts = Bars(figure.add_axes((0.565, 0.45, 0.395, 0.155)), "times played", counts=True)
            self._counts.axes.set_xlabel("graphs, sorted by mean reward")
            self._regret = Curve(figure.add_axes((0.565, 0.105, 0.395, 0.195)))
            star: dict[str, Any] = {"color": BEST, "marker": "*", "markersize": 9, "linestyle": "", "clip_on": False}
            self._means.axes.plot([1], [1.035], transform=self._means.axes.get_xaxis_transform(), **star)
            colors = {"last played": PLAYED, "on offer": OFFERED, "not on offer": ABSENT}
            handles: list[Artist] = [Line2D([], [], label="best", **star)]
            handles += [Patch(color=color, label=label) for label, color in colors.items()]
            figure.legend(
                handles=handles,
                loc="lower right",
                bbox_to_anchor=(0.975, 0.937),
                ncols=4,
                frameon=False,
                fontsize=8,
                handlelength=0.9,
                handletextpad=0.4,
                columnspacing=1.0,
                borderpad=0,
            )
        self._graph_set: GraphSet | None = None
        self._picture: list[Artist] = []

    def update(self, episode: Episode, mask: NDArray[np.bool_] | None) -> None:
        """Show an episode up to its latest round.

        Args:
            episode: the episode.
            mask: the graphs that the next round offers, `(K,)` or longer; None when the episode is over.
        """
        with style.context(["default", STYLE]):
            if episode.graph_set is not self._graph_set:
                self._graph_set = episode.graph_set
                self._picture_of = lru_cache(CACHED_PICTURES)(partial(make_picture, episode.graph_set))
            self._room = TEXT_WIDTH * self._figure.bbox.width  # a window may be resized
            self._update_graph(episode)
            for text, words in zip(self._headlines, _headlines(episode, over=mask is None), strict=True):
                _write(text, words, self._room)
            order = np.argsort(-episode.mean_rewards, kind="stable")
            kinds = (
                np.full(len(order), KINDS.index(ABSENT))
                if mask is None
                else np.where(mask[: len(order)], KINDS.index(OFFERED), KINDS.index(ABSENT))
            )
            if episode.played is not None:
                kinds[episode.played] = KINDS.index(PLAYED)
            self._means.update(episode.mean_rewards[order], kinds[order])
            self._counts.update(episode.counts[order].astype(np.float64), kinds[order])
            self._regret.update(episode.cumulative_regret, episode.horizon)

    def _update_graph(self, episode: Episode) -> None:
        for artist in self._picture:
            artist.remove()
        self._picture = []
        self._nothing.set_visible(episode.played is None)
        caption = ""
        if episode.played is not None:
            picture = self._picture_of(episode.played)
            self._picture, caption = picture.draw(self._graph), picture.caption
        _write(self._caption, caption, self._room)


def _headlines(episode: Episode, over: bool) -> tuple[str, str, str]:
    rounds = f"Round {episode.round:,} of {episode.horizon:,}" + ", episode over" * over
    if episode.played is None:
        return rounds, f"{len(episode.graph_set):,} graphs to choose from", ""
    k = episode.played
    ids = getattr(episode.graph_set, "ids", None)
    name = f": {ids[k]}" if ids is not None and ids[k] != str(k) else ""
    means = f"mean {episode.mean_rewards[k]:.4g}, best mean {episode.mean_rewards.max():.4g}"
    return rounds, f"Graph {k}{name}", f"Reward {episode.reward:.4g} ({means})"


def _write(text: Text, words: str, room: float) -> None:
    """Set a text, cut with an ellipsis if it is wider than `room`."""
    words = " ".join(words.split())
    text.set_text(words)
    while words and (width := text.get_window_extent().width) > room:
        words = words[: min(int(len(words) * room / width), len(words) - 1)].rstrip()
        text.set_text(words + "…")
