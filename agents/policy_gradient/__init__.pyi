from .agent import PPOAgent as PPOAgent
from .agent import policy_gradient as policy_gradient
from .online import PPOSettings as PPOSettings
