import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor
from support.graph_policies import FORMS, encoder_kwargs, graphs_with_edge_features, make_env

from agents.sb3 import GraphSetMaskablePolicy, GraphSetPolicy, SB3VecEnv
from graph_bandit_env import wrappers
from graph_bandit_env.wrappers import GraphSetIndices, vector

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
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            assert_same(found[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_trajectories_are_those_of_the_dummy_vec_env(make):
    assert_same(play(adapt(make), 40), play(DummyVecEnv([make] * 3), 40))


def test_sub_environments_are_asked_one_by_one():
    venv = adapt(MAKERS["indices"])
    venv.seed(0)
    assert venv.has_attr("action_masks")  # before the first reset, when it cannot be called
    assert not venv.has_attr("gravity")
    venv.reset()
    assert venv.env_is_wrapped(GraphSetIndices, indices=[1]) == [True]
    assert venv.get_attr("action_space", indices=1) == [Discrete(4)]
    venv.set_attr("note", "seen", indices=[0, 1])
    assert [hasattr(env, "note") or env.has_wrapper_attr("note") for env in venv.venv.envs] == [True, True, False]
    assert venv.env_method("action_masks", indices=2)[0].tolist() == [True] * 4


def train(algorithm, policy, venv, static, steps=96):
    kwargs = {"features_extractor_kwargs": static}
    settings = {"n_steps": 16, "batch_size": 16, "n_epochs": 2, "seed": 0, "device": "cpu"}
    return algorithm(policy, venv, policy_kwargs=kwargs, **settings).learn(steps)


@pytest.mark.parametrize(
    ("algorithm", "policy"), [(PPO, GraphSetPolicy), (MaskablePPO, GraphSetMaskablePolicy)], ids=["PPO", "MaskablePPO"]
)
@pytest.mark.parametrize("form", FORMS)
def test_training_learns_the_same_weights_as_on_the_dummy_vec_env(form, algorithm, policy):
    static = encoder_kwargs(MAKERS[form]())
    venvs = adapt(MAKERS[form]), DummyVecEnv([MAKERS[form]] * 3)
    found, expected = (train(algorithm, policy, VecMonitor(venv), static) for venv in venvs)
    for name, weight in expected.policy.state_dict().items():
        assert torch.equal(found.policy.state_dict()[name], weight)
    rewards = [[episode["r"] for episode in model.ep_info_buffer] for model in (found, expected)]
    assert rewards[0] == rewards[1]
    assert len(rewards[0]) == 3 * (32 // 3)


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
