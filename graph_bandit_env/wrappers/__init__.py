"""Observations for learners that take arrays only, as Stable-Baselines3 does."""

from graph_bandit_env.wrappers.indices import GraphSetIndices
from graph_bandit_env.wrappers.padded import PaddedGraphSet
from graph_bandit_env.wrappers.padding import Padding, unpad

__all__ = ["GraphSetIndices", "PaddedGraphSet", "Padding", "unpad"]
