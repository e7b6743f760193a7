from .independent import IndependentAgent as IndependentAgent
from .independent import IndependentSettings as IndependentSettings
from .random_agent import RandomAgent as RandomAgent

__all__ = [
    "IndependentAgent",
    "IndependentSettings",
    "RandomAgent",
]
