"""The parts of a graph bandit: its arguments, graphs, mean rewards, rounds and noise."""

from graph_bandit_env.bandit.arguments import BanditArguments, ObservationKind
from graph_bandit_env.bandit.bandit_model import BanditModel

__all__ = ["BanditArguments", "BanditModel", "ObservationKind"]
