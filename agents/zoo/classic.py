"""Agents that ignore the structure and the features of the graphs."""

from __future__ import annotations

from agents.beliefs.composition import compose
from agents.beliefs.rules import CountBonus, ThompsonSampling
from agents.classic.agents import (
    CountingAgent,
    ExponentialAgent,
    ExponentialSettings,
    IndependentAgent,
    IndependentSettings,
    RandomAgent,
    RandomSettings,
)

ucb1 = compose("ucb1", CountingAgent, IndependentSettings, CountBonus)
gaussian_ts = compose("gaussian-ts", IndependentAgent, IndependentSettings, ThompsonSampling)
random = compose("random", RandomAgent, RandomSettings)
exp3 = compose("exp3", ExponentialAgent, ExponentialSettings)
