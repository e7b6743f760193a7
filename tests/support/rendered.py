"""What tests of rendering share: an environment, a renderer, a window for a machine that has none."""

import gymnasium as gym
import numpy as np

from graph_bandit_env.rendering import Renderer
from graph_bandit_env.rendering.frame import ArrayScreen

SHAPE = (540, 960, 3)
SMILES = ["CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "CCO", "CCC", "CCN"]
RED, BLUE = (255, 0, 0), (0, 0, 255)  # of oxygen and nitrogen, in RDKit's pictures


def make(render_mode="rgb_array", **changes):
    settings = {"num_graphs": 6, "num_nodes": 5, "feature_dim": 3, "horizon": 4, **changes}
    return gym.make("GraphActionBandit-v0", render_mode=render_mode, **settings)


def started(graph_set, means=None, horizon=10):
    renderer = Renderer("rgb_array")
    renderer.begin(graph_set, np.arange(float(len(graph_set))) if means is None else means, horizon)
    return renderer


def shows(frame, color):
    return bool((frame == color).all(axis=-1).any())


class Window(ArrayScreen):
    """A window for a machine that has none; it counts what was shown."""

    def __init__(self):
        super().__init__()
        self.shown, self.open = 0, True
        windows.append(self)

    def is_open(self):
        return self.open

    def show(self):
        super().show()
        self.shown += 1

    def close(self):
        self.open = False


windows: list[Window] = []
