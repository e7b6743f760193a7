"""Mean rewards of graphs, and the noise of observed rewards."""

from graph_bandit_env.rewards.noise import NOISES, NoiseName
from graph_bandit_env.rewards.reward_models import REWARD_MODELS, REWARD_SCALES, RewardModelName, RewardScale

__all__ = ["NOISES", "REWARD_MODELS", "REWARD_SCALES", "NoiseName", "RewardModelName", "RewardScale"]
