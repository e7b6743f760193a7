"""Acquisition rules: one file for each class, with its settings.

Every rule works with every model, with one exception: a rule that remembers graphs needs a model that always ranks all
graphs of the set, and the model for molecules does not.
"""

from agents.beliefs.rules.count_bonus import CountBonus
from agents.beliefs.rules.epsilon_greedy import EpsilonGreedy
from agents.beliefs.rules.expected_improvement import ExpectedImprovement
from agents.beliefs.rules.greedy import Greedy
from agents.beliefs.rules.inverse_gap_weighting import GapSettings, InverseGapWeighting
from agents.beliefs.rules.phased_elimination import EliminationSettings, PhasedElimination
from agents.beliefs.rules.rule import AcquisitionRule, Memoryless
from agents.beliefs.rules.thompson_sampling import JointSampling, SamplingSettings, ThompsonSampling
from agents.beliefs.rules.upper_confidence_bound import UpperConfidenceBound

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
