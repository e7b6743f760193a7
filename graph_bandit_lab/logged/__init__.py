"""Log episodes with the probabilities of their plays, and evaluate other policies and agents on such a log."""

from graph_bandit_lab.logged.estimates import METHODS, Estimate, Policy, evaluate, target_probabilities
from graph_bandit_lab.logged.log import Log
from graph_bandit_lab.logged.players import FixedPolicy, LoggingAgent, log_episode
from graph_bandit_lab.logged.replaying import Replay, replay

__all__ = [
    "METHODS",
    "Estimate",
    "FixedPolicy",
    "Log",
    "LoggingAgent",
    "Policy",
    "Replay",
    "evaluate",
    "log_episode",
    "replay",
    "target_probabilities",
]
