from .independent import IndependentAgent, IndependentSettings, counted, independent
from .random_agent import RandomAgent, RandomSettings, uniform

__all__ = [
    "IndependentAgent",
    "IndependentSettings",
    "RandomAgent",
    "RandomSettings",
    "counted",
    "independent",
    "uniform",
]
