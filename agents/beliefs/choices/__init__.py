"""Probabilities with which a rule plays each graph, given what is believed of them."""

from agents.beliefs.choices.largest import largest_of_draws, probability_of_largest
from agents.beliefs.choices.probabilities import choice_probabilities

__all__ = ["choice_probabilities", "largest_of_draws", "probability_of_largest"]
