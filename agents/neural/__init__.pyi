from .agent import NeuralAgent as NeuralAgent
from .agent import gnn as gnn
from .agent import nn as nn
from .flat import FlatNeuralAgent as FlatNeuralAgent
from .flat import FlatNeuralSettings as FlatNeuralSettings
from .flat import flat as flat
from .settings import NeuralSettings as NeuralSettings
