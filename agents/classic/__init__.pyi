from .independent import IndependentAgent as IndependentAgent
from .independent import IndependentSettings as IndependentSettings
from .independent import counted as counted
from .independent import independent as independent
from .random_agent import RandomAgent as RandomAgent
from .random_agent import RandomSettings as RandomSettings
from .random_agent import uniform as uniform
