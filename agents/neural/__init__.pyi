from .agent import NeuralAgent as NeuralAgent
from .agent import gnn as gnn
from .agent import nn as nn
from .settings import NeuralSettings as NeuralSettings
