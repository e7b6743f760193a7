from .agent import LinearAgent as LinearAgent
from .agent import linear as linear
from .settings import LinearSettings as LinearSettings

__all__ = ["LinearAgent", "LinearSettings", "linear"]
