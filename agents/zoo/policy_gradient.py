"""The agent that Stable-Baselines3 trains, which only those need to have installed who play by it."""

from __future__ import annotations

from agents.beliefs.composition import compose
from agents.policy_gradient import PPOSettings, policy_gradient

sb3_ppo = compose("sb3-ppo", policy_gradient, PPOSettings)
