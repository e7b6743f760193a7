"""Acquisition rules: one class in one file each, with its settings.

Each works with every model; one that remembers graphs, with those that always rank all graphs of the set (all but the
model of molecules).
"""

from agents.beliefs.rules.count_bonus import CountBonus
from agents.beliefs.rules.epsilon_greedy import EpsilonGreedy
from agents.beliefs.rules.expected_improvement import ExpectedImprovement
from agents.beliefs.rules.greedy import Greedy
from agents.beliefs.rules.phased_elimination import PhasedElimination
from agents.beliefs.rules.rule import AcquisitionRule, Memoryless
from agents.beliefs.rules.thompson_sampling import ThompsonSampling
from agents.beliefs.rules.upper_confidence_bound import UpperConfidenceBound

__all__ = [
    "AcquisitionRule",
    "CountBonus",
    "EpsilonGreedy",
    "ExpectedImprovement",
    "Greedy",
    "Memoryless",
    "PhasedElimination",
    "ThompsonSampling",
    "UpperConfidenceBound",
]
