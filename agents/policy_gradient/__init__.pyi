from .agent import PPOAgent as PPOAgent
from .settings import PPOSettings as PPOSettings

__all__ = [
    "PPOAgent",
    "PPOSettings",
]
