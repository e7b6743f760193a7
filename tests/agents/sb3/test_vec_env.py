import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from stable_baselines3.common.vec_env import DummyVecEnv
from support.graph_policies import graphs_with_edge_features, make_env

from agents.sb3 import SB3VecEnv
from graph_bandit_env import wrappers
from graph_bandit_env.wrappers import vector

SAME_STEP = {"autoreset_mode": AutoresetMode.SAME_STEP}

MAKERS = {
    "padded": lambda: make_env("padded", horizon=3, actions_per_round=2),
    "indices": lambda: make_env("indices", horizon=3, replacement=False),
    "terminates": lambda: make_env("indices", horizon=9, replacement=False),
    "cartpole": lambda: gym.make("CartPole-v1", max_episode_steps=15),
}


def adapt(make, count=3, vector=SyncVectorEnv):
    return SB3VecEnv(vector([make] * count, **SAME_STEP))


def play(venv, rounds, seed=0):
    """Everything that comes back, with actions drawn from the masks."""
    rng = np.random.default_rng(seed)
    venv.seed(seed)
    result = [(venv.reset(), [dict(info) for info in venv.reset_infos])]
    for _ in range(rounds):
        masks = venv.env_method("action_masks") if venv.has_attr("action_masks") else np.ones((venv.num_envs, 2))
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        result.append((*venv.step(actions), [dict(info) for info in venv.reset_infos]))
    return result


def assert_same(found, expected):
    np.testing.assert_equal(found, expected)
    assert found[1][1].dtype == np.float32  # rewards


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_trajectories_are_those_of_the_dummy_vec_env(make):
    assert_same(play(adapt(make), 40), play(DummyVecEnv([make] * 3), 40))


@pytest.mark.parametrize("wrap", ["PaddedGraphSet", "GraphSetIndices"])
def test_the_native_environment_has_the_trajectories_of_one_by_one(wrap):
    settings = {"graphs": graphs_with_edge_features(), "reward_model": np.arange(4), "horizon": 3}
    settings |= {"actions_per_round": 2, "noise_std": 0.5}

    def single():
        observe = "graphs" if wrap == "PaddedGraphSet" else "indices"
        return getattr(wrappers, wrap)(gym.make("GraphActionBandit-v0", observe=observe, **settings))

    native = gym.make_vec("GraphActionBandit-v0", 3, autoreset_mode="SameStep", observe="indices", **settings)
    adapted = SB3VecEnv(getattr(vector, wrap)(native))
    assert_same(play(adapted, 8), play(DummyVecEnv([single] * 3), 8))
