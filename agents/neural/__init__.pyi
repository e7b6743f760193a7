from .agent import NeuralAgent as NeuralAgent
from .models import gnn as gnn
from .models import nn as nn
from .settings import NeuralSettings as NeuralSettings

__all__ = [
    "NeuralAgent",
    "NeuralSettings",
    "gnn",
    "nn",
]
