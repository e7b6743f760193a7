"""Agents that ignore the structure and the features of the graphs."""

from __future__ import annotations

from agents.beliefs.composition import compose
from agents.beliefs.rules import CountBonus, ThompsonSampling
from agents.classic import (
    ExponentialSettings,
    IndependentSettings,
    RandomSettings,
    counted,
    exponential,
    independent,
    uniform,
)

ucb1 = compose("ucb1", counted, IndependentSettings, CountBonus)
gaussian_ts = compose("gaussian-ts", independent, IndependentSettings, ThompsonSampling)
random = compose("random", uniform, RandomSettings)
exp3 = compose("exp3", exponential, ExponentialSettings)
