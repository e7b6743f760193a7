"""Networks with the covariance of their tangent features: the agents of the paper."""

from agents.neural.agent import gnn, nn
from agents.neural.settings import NeuralSettings

__all__ = ["NeuralSettings", "gnn", "nn"]
