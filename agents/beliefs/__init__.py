"""The parts that all families of agents share: belief, acquisition rules, batches, rewards observed, and insight."""

from agents.beliefs.agent import BatchBeliefAgent, BeliefAgent
from agents.beliefs.batches import order_by_digest, short_list
from agents.beliefs.belief import Belief
from agents.beliefs.composition import compose
from agents.beliefs.rules import Greedy, Memoryless, PhasedElimination, ThompsonSampling, UpperConfidenceBound

__all__ = [
    "BatchBeliefAgent",
    "Belief",
    "BeliefAgent",
    "Greedy",
    "Memoryless",
    "PhasedElimination",
    "ThompsonSampling",
    "UpperConfidenceBound",
    "compose",
    "order_by_digest",
    "short_list",
]
