"""Policies for Stable-Baselines3 whose actions are the graphs of an observation.

They score each graph with shared weights, so that the order of the graphs means nothing, and K may change.
"""

from agents.sb3.extractor import GraphSetExtractor
from agents.sb3.network import MeanNodeNetwork
from agents.sb3.policy import GraphSetPolicy

__all__ = ["GraphSetExtractor", "GraphSetPolicy", "MeanNodeNetwork"]
