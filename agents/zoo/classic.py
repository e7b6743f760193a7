"""Agents that ignore the structure and the features of the graphs."""

from __future__ import annotations

from agents.beliefs.composition import compose
from agents.beliefs.rules import CountBonus, ThompsonSampling
from agents.classic.exponential import ExponentialSettings, exponential
from agents.classic.independent import IndependentSettings, counted, independent
from agents.classic.random_agent import RandomSettings, uniform

ucb1 = compose("ucb1", counted, IndependentSettings, CountBonus)
gaussian_ts = compose("gaussian-ts", independent, IndependentSettings, ThompsonSampling)
random = compose("random", uniform, RandomSettings)
exp3 = compose("exp3", exponential, ExponentialSettings)
