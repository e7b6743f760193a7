from .features import GraphFeatures as GraphFeatures
from .features import graph_features as graph_features
from .kernel import GraphKernel as GraphKernel
from .regressor import GraphProcessRegressor as GraphProcessRegressor
