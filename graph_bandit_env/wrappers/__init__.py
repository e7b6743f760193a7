"""Wrappers for array observations, as required by some learners, and for delayed rewards."""

from graph_bandit_env.wrappers.delayed import DelayedRewards, RewardQueue, check_delay, delays_rng
from graph_bandit_env.wrappers.padded import GraphSetIndices, PaddedGraphSet, Padding, unpad

__all__ = [
    "DelayedRewards",
    "GraphSetIndices",
    "PaddedGraphSet",
    "Padding",
    "RewardQueue",
    "check_delay",
    "delays_rng",
    "unpad",
]
