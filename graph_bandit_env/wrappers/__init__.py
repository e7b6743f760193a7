"""Wrappers that turn observations into arrays, for Stable-Baselines3 and other learners that need them."""

from graph_bandit_env.wrappers.indices import GraphSetIndices
from graph_bandit_env.wrappers.padded import PaddedGraphSet
from graph_bandit_env.wrappers.padding import Padding, unpad

__all__ = ["GraphSetIndices", "PaddedGraphSet", "Padding", "unpad"]
