"""Mean rewards of graphs, and the noise of observed rewards."""

from graph_bandit_env.rewards.noise import NoiseName
from graph_bandit_env.rewards.reward_models import REWARD_MODELS, RewardModelName, is_structural

__all__ = ["REWARD_MODELS", "NoiseName", "RewardModelName", "is_structural"]
