"""The learners of the comparison, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import VecEnv

from agents.sb3 import GraphSetDQN, GraphSetDQNPolicy, GraphSetMaskablePolicy, GraphSetPolicy

ROLLOUT: dict[str, Any] = {  # 32 bandits x 64 rounds a rollout; gamma = 0, as actions do not affect later rounds
    "n_steps": 64,
    "batch_size": 256,
    "n_epochs": 2,
    "learning_rate": 1e-3,
    "gamma": 0.0,
}


def ppo(venv: VecEnv, seed: int) -> BaseAlgorithm:
    """Make PPO with the policy that scores each graph by shared weights."""
    return PPO(GraphSetPolicy, venv, seed=seed, device="cpu", **ROLLOUT)


def maskable_ppo(venv: VecEnv, seed: int) -> BaseAlgorithm:
    """Make MaskablePPO with the same policy."""
    return MaskablePPO(GraphSetMaskablePolicy, venv, seed=seed, device="cpu", **ROLLOUT)


def flat_ppo(venv: VecEnv, seed: int) -> BaseAlgorithm:
    """Make PPO with Stable-Baselines3's own policy for Dicts, which flattens all arrays, order and padding included."""
    return PPO("MultiInputPolicy", venv, seed=seed, device="cpu", **ROLLOUT)


def dqn(venv: VecEnv, seed: int) -> BaseAlgorithm:
    """Make DQN with the same scores as its Q-function."""
    settings: dict[str, Any] = {
        "buffer_size": 8192,  # two observations a step, 250 kB
        "learning_starts": 2048,
        "batch_size": 256,
        "gradient_steps": 1,
        "train_freq": 1,
        "exploration_fraction": 0.2,
        "learning_rate": 1e-3,
        "gamma": 0.0,
    }
    return GraphSetDQN(GraphSetDQNPolicy, venv, seed=seed, device="cpu", **settings)


LEARNERS: dict[str, Callable[[VecEnv, int], BaseAlgorithm]] = {
    "ppo": ppo,
    "maskable-ppo": maskable_ppo,
    "dqn": dqn,
    "flat-ppo": flat_ppo,
}
