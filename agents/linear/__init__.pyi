from .agent import LinearAgent as LinearAgent
from .settings import LinearSettings as LinearSettings

__all__ = ["LinearAgent", "LinearSettings"]
