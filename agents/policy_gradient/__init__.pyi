from .agent import PPOAgent as PPOAgent
from .agent import policy_gradient as policy_gradient
from .settings import PPOSettings as PPOSettings
