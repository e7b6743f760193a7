"""`GraphActionBanditPadded-v0`: graph sets as arrays, by a name that other libraries can take."""

from itertools import cycle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.graphs import ragged_graphs

from graph_bandit_env import spread_seeds
from graph_bandit_env.wrappers import PaddedGraphSet

ID = "graph_bandit_env:GraphActionBanditPadded-v0"
SMALL = {"num_graphs": 4, "num_nodes": 5, "horizon": 3}
VARIANTS = {
    "static": {},
    "masks of bool": {"mask_dtype": "bool", "actions_per_round": 2},
    "more room": {"max_nodes": 7, "max_edges": 50, "max_graphs": 6},
    "new graphs": {"resample_graphs": True},
    "graphs of a round": {"resample_graphs": "round", "mask_dtype": "bool"},
    "ragged": {"graphs": ragged_graphs(), "reward_model": [0.0, 1.0, 2.0, 3.0]},
    "varying": {"num_graphs": (2, 4), "resample_graphs": True},
}


def first_on_offer(observation):
    return observation["mask"].argmax(axis=-1)


def test_it_is_the_environment_in_its_wrapper():
    made = gym.make(ID, **SMALL, max_edges=20)
    wrapped = PaddedGraphSet(gym.make("GraphActionBandit-v0", **SMALL), max_edges=20)
    assert made.observation_space == wrapped.observation_space
    assert made.spec.max_episode_steps == 3
    for env in (made, wrapped):
        env.reset(seed=3)
    for action in (0, 3, 1):
        (found, reward, *_), (expected, other, *_) = made.step(action), wrapped.step(action)
        assert reward == other
        assert all(np.array_equal(found[key], expected[key]) for key in expected)


def test_its_spec_makes_it_again():
    env = gym.make(ID, **SMALL, mask_dtype="bool", max_graphs=6)
    again = gym.make(env.spec)
    assert again.observation_space == env.observation_space
    assert str(again).count("PaddedGraphSet") == 1


@pytest.mark.parametrize(("variant", "mode"), [*zip(VARIANTS, cycle(["SameStep", "NextStep", "SameStep"]))])
def test_its_vector_form_gives_the_trajectories_of_single_ones(variant, mode):
    settings = {**({"horizon": 3} if variant == "ragged" else SMALL), **VARIANTS[variant]}
    envs = gym.make_vec(ID, 3, autoreset_mode=mode, **settings)
    singles = gym.make_vec(ID, 3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **settings)
    assert envs.autoreset_mode == envs.metadata["autoreset_mode"] == AutoresetMode(mode)
    assert envs.single_observation_space == singles.single_observation_space
    (found, info), (expected, other) = envs.reset(seed=0), singles.reset(seed=spread_seeds(0, 3))
    for _ in range(8):
        assert found in envs.observation_space
        assert np.array_equal(envs.action_masks(), found["mask"])
        for key in expected:
            assert np.array_equal(found[key], expected[key])
        for one in (info, other):
            assert one["action_mask"].dtype == settings.get("mask_dtype", "int8")
            assert np.array_equal(one["action_mask"], found["mask"])
        found, reward, _, _, info = envs.step(first_on_offer(found))
        expected, other_reward, _, _, other = singles.step(first_on_offer(expected))
        assert np.array_equal(reward, other_reward)
        for last, its in zip(info.get("final_obs", ()), other.get("final_obs", ()), strict=True):
            assert all(np.array_equal(last[key], its[key]) for key in its)
