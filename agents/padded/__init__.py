"""Networks in plain torch on the observations of `graph_bandit_env.wrappers`, for any library of learners.

They score each graph with shared weights, so that the order of the graphs does not matter and K may change.
"""

from agents.padded.encoder import GraphSetEncoder, MeanNodeNetwork
from agents.padded.policy import GraphSetActorCritic

__all__ = ["GraphSetActorCritic", "GraphSetEncoder", "MeanNodeNetwork"]
