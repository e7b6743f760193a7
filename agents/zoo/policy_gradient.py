"""The agent that Stable-Baselines3 trains, which only those need to have installed who play by it."""

from __future__ import annotations

from agents.beliefs.composition import compose
from agents.policy_gradient.agent import policy_gradient
from agents.policy_gradient.online import PPOSettings

sb3_ppo = compose("sb3-ppo", policy_gradient, PPOSettings)
