"""Policies for Stable-Baselines3 and sb3-contrib that choose among the graphs of an observation.

They are made of the networks of `agents.padded`. The extra `sb3` installs both libraries.
"""

from agents.sb3.policy import GraphSetMaskablePolicy, GraphSetPolicy
from agents.sb3.vec_env import SB3VecEnv

__all__ = ["GraphSetMaskablePolicy", "GraphSetPolicy", "SB3VecEnv"]
