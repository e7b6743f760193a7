"""Follow an episode, and draw it, or one graph, when a frame is asked for: in an array or a window."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from graph_bandit_env.bandit.arguments import RENDER_MODES, RenderMode
from graph_bandit_env.checks import check_choice
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.rendering.episode import Episode

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from graph_bandit_env.rendering.frame import ArrayScreen, Frame, WindowScreen


class Renderer:
    """Draw an episode of `GraphActionBandit-v0`: the graph played last, mean rewards, pull counts and regret.

    A renderer uses no random numbers, and does no work before a frame is asked for.

    Args:
        mode: "rgb_array": frames are returned; "human": they are shown in a window.

    Raises:
        ValueError: if the mode is unknown.
    """

    def __init__(self, mode: RenderMode) -> None:
        self._shows = check_choice("render_mode", mode, RENDER_MODES) == "human"
        self._episode: Episode | None = None
        self._drawn: tuple[ArrayScreen | WindowScreen, Frame] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the figure out: a copy makes its own."""
        return {**self.__dict__, "_drawn": None}

    def begin(self, graph_set: GraphSet, mean_rewards: NDArray[np.float64], horizon: int) -> None:
        """Begin an episode: counts and regret start at zero.

        Args:
            graph_set: the K graphs.
            mean_rewards: `(K,)`.
            horizon: T, the number of rounds of an episode.
        """
        self._episode = Episode(
            graph_set=graph_set,
            mean_rewards=np.array(mean_rewards, np.float64),
            horizon=horizon,
            counts=np.zeros(len(graph_set), np.int64),
            cumulative_regret=array("d", [0.0]),
        )

    def begin_round(self, graph_set: GraphSet, mean_rewards: NDArray[np.float64]) -> None:
        """Show the graphs and means of the round that is recorded next; counts of other graphs start at zero."""
        episode = self._after_begin()
        if graph_set is not episode.graph_set:
            episode.counts = np.zeros(len(graph_set), np.int64)
        episode.graph_set, episode.mean_rewards = graph_set, np.array(mean_rewards, np.float64)

    def record(self, action: int, reward: float, regret: float) -> None:
        """Record a round.

        Args:
            action: the graph played.
            reward: the observed reward, noise included.
            regret: the regret of this round alone.
        """
        episode = self._after_begin()
        episode.counts[action] += 1
        episode.cumulative_regret.append(episode.cumulative_regret[-1] + regret)
        episode.played, episode.reward = int(action), float(reward)

    def render(self, mask: NDArray[np.bool_] | None) -> NDArray[np.uint8] | None:
        """Draw the episode so far.

        Args:
            mask: the graphs that the next round offers, `(K,)` or longer; None when the episode is over.

        Returns:
            A frame `(540, 960, 3)` for "rgb_array"; None for "human", which draws into a window. A window that the user
            has closed stays closed.

        Raises:
            ResetNeeded: before the first episode.
            RuntimeError: for "human", if matplotlib cannot open a window.
        """
        from graph_bandit_env.rendering.frame import ArrayScreen, Frame, WindowScreen

        episode = self._after_begin()
        if self._drawn is None:
            screen = WindowScreen() if self._shows else ArrayScreen()
            self._drawn = screen, Frame(screen.figure)
        screen, frame = self._drawn
        if not screen.is_open():
            return None
        frame.update(episode, mask)
        return screen.show()

    def close(self) -> None:
        """Close the window, if there is one; a later `render` opens another."""
        if self._drawn is not None:
            self._drawn[0].close()
        self._drawn = None

    def _after_begin(self) -> Episode:
        if self._episode is None:
            raise ResetNeeded("Expected `reset` before `render`: there is no episode to draw yet.")
        return self._episode


def draw_graph(axes: Axes, graph_set: GraphSet, index: int) -> str:
    """Draw a graph into axes that show [-1, 1] x [-1, 1]: with RDKit if it is a molecule, else with networkx.

    Args:
        axes: the axes.
        graph_set: K graphs.
        index: which of them to draw.

    Returns:
        A line of text about the graph: how many nodes and edges it has, and what the colours mean.
    """
    from graph_bandit_env.rendering.pictures import make_picture

    picture = make_picture(graph_set, index)
    picture.draw(axes)
    return picture.caption
