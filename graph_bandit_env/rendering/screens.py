"""Draw a frame into an array, or into a window."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

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
