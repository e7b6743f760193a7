"""The parts of a graph bandit: its arguments, graphs, mean rewards, rounds and noise."""

from graph_bandit_env.bandit.arguments import BanditArguments, ObservationKind
from graph_bandit_env.bandit.bandit_model import BanditModel
from graph_bandit_env.bandit.signatures import REASON, name_nearest

__all__ = ["REASON", "BanditArguments", "BanditModel", "ObservationKind", "name_nearest"]
