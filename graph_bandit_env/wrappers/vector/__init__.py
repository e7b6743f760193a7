"""The wrappers of `graph_bandit_env.wrappers` for the native vector environment, under the same names."""

from graph_bandit_env.wrappers.vector.batched import GraphSetIndices, PaddedGraphSet

__all__ = ["GraphSetIndices", "PaddedGraphSet"]
