"""Acquisition rules, each with its settings beside it.

Every rule works with every model, with one exception: a rule that remembers graphs needs a model that always ranks all
graphs of the set, and the model for molecules does not.
"""

from agents.beliefs.rules.memoryless import (
    EpsilonGreedy,
    ExpectedImprovement,
    Greedy,
    JointSampling,
    SamplingSettings,
    ThompsonSampling,
    UpperConfidenceBound,
)
from agents.beliefs.rules.remembering import (
    CountBonus,
    EliminationSettings,
    GapSettings,
    InverseGapWeighting,
    PhasedElimination,
)
from agents.beliefs.rules.rule import AcquisitionRule, Memoryless

__all__ = [
    "AcquisitionRule",
    "CountBonus",
    "EliminationSettings",
    "EpsilonGreedy",
    "ExpectedImprovement",
    "GapSettings",
    "Greedy",
    "InverseGapWeighting",
    "JointSampling",
    "Memoryless",
    "PhasedElimination",
    "SamplingSettings",
    "ThompsonSampling",
    "UpperConfidenceBound",
]
