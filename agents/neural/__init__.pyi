from .agent import NeuralAgent, gnn, nn
from .settings import NeuralSettings

__all__ = [
    "NeuralAgent",
    "NeuralSettings",
    "gnn",
    "nn",
]
