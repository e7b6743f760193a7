"""Rewards observed, and the scale on which they are modelled: history and targets."""

from agents.beliefs.rewards.forecasts import predict_chosen
from agents.beliefs.rewards.history import Forget, History
from agents.beliefs.rewards.partial import Bounds, PartialResults, stack, thin_out
from agents.beliefs.rewards.targets import NormalScores, Standardised, Targets, make_targets, predict, variances_of

__all__ = [
    "Bounds",
    "Forget",
    "History",
    "NormalScores",
    "PartialResults",
    "Standardised",
    "Targets",
    "make_targets",
    "predict",
    "predict_chosen",
    "stack",
    "thin_out",
    "variances_of",
]
