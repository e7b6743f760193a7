"""Mean rewards of graphs, and the noise of observed rewards."""

from graph_bandit_env.rewards.noise import NOISES, NoiseName
from graph_bandit_env.rewards.reward_models import (
    RANDOM_REWARDS,
    REWARD_MODELS,
    REWARD_SCALES,
    RewardModelName,
    RewardScale,
    is_structural,
)

__all__ = [
    "NOISES",
    "RANDOM_REWARDS",
    "REWARD_MODELS",
    "REWARD_SCALES",
    "NoiseName",
    "RewardModelName",
    "RewardScale",
    "is_structural",
]
