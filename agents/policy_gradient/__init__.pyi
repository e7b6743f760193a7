from .agent import PPOAgent, policy_gradient
from .settings import PPOSettings

__all__ = [
    "PPOAgent",
    "PPOSettings",
    "policy_gradient",
]
