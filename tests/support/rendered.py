"""An environment whose frames are tested."""

import gymnasium as gym

SHAPE = (540, 960, 3)
SMILES = ["CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "CCO", "CCC", "CCN"]
RED, BLUE = (255, 0, 0), (0, 0, 255)  # of oxygen and nitrogen, in RDKit's pictures


def make(render_mode="rgb_array", **changes):
    settings = {"num_graphs": 6, "num_nodes": 5, "feature_dim": 3, "horizon": 4, **changes}
    return gym.make("GraphActionBandit-v0", render_mode=render_mode, **settings)


def shows(frame, color):
    return bool((frame == color).all(axis=-1).any())
