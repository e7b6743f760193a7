"""Rewards observed, and the scale on which they are modelled: history, targets, and likelihood of scale and noise."""

from agents.beliefs.rewards.bounds import Bounds
from agents.beliefs.rewards.chosen import predict_chosen
from agents.beliefs.rewards.history import History, OrderedHistory
from agents.beliefs.rewards.likelihood import PRIOR_NOISE, Hyperparameters, MarginalLikelihood
from agents.beliefs.rewards.noisy import NoisyResults, variances_of
from agents.beliefs.rewards.recency import Forget, check_rule, make_history, next_fit
from agents.beliefs.rewards.targets import NormalScores, Standardised, Targets, make_targets, predict
from agents.beliefs.rewards.worth import worth_of_results

__all__ = [
    "PRIOR_NOISE",
    "Bounds",
    "Forget",
    "History",
    "Hyperparameters",
    "MarginalLikelihood",
    "NoisyResults",
    "NormalScores",
    "OrderedHistory",
    "Standardised",
    "Targets",
    "check_rule",
    "make_history",
    "make_targets",
    "next_fit",
    "predict",
    "predict_chosen",
    "variances_of",
    "worth_of_results",
]
