"""The agent that learns by policy gradient."""

from __future__ import annotations

from agents.beliefs.composition import compose
from agents.policy_gradient.agent import PPOAgent, PPOSettings

sb3_ppo = compose("sb3-ppo", PPOAgent, PPOSettings)
