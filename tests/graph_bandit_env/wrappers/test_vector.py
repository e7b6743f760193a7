from itertools import cycle

import gymnasium as gym
import numpy as np
import pytest
from support.graphs import ragged_graphs

from graph_bandit_env import wrappers
from graph_bandit_env.wrappers import vector

SEEDS = [4, 0, 9]
RANDOM = {"num_graphs": 4, "num_nodes": 5, "horizon": 3}
OWN = {"graphs": ragged_graphs(), "horizon": 3, "reward_model": [0.0, 1.0, 2.0, 3.0]}
VARIANTS = {
    "ragged": (wrappers.PaddedGraphSet, OWN),
    "padded, subsets": (wrappers.PaddedGraphSet, {**OWN, "actions_per_round": 2}),
    "graphs of a round": (wrappers.PaddedGraphSet, {**RANDOM, "resample_graphs": "round"}),
    "indices": (wrappers.GraphSetIndices, {**OWN, "observe": "indices", "actions_per_round": 2}),
    "used up": (wrappers.GraphSetIndices, {**OWN, "observe": "indices", "replacement": False, "horizon": 9}),
}


def native(wrap, mode, **settings):
    observe = "graphs" if settings.get("resample_graphs") == "round" else "indices"
    envs = gym.make_vec("GraphActionBandit-v0", 3, autoreset_mode=mode, **{**settings, "observe": observe})
    return getattr(vector, wrap.__name__)(envs)


def equal(found, expected):
    return found.keys() == expected.keys() and all(
        found[key].dtype == expected[key].dtype and np.array_equal(found[key], expected[key]) for key in expected
    )


@pytest.mark.parametrize(("variant", "mode"), [*zip(VARIANTS, cycle(["NextStep", "SameStep"]))])
def test_observations_are_those_of_bandits_that_were_wrapped_one_by_one(variant, mode):
    wrap, settings = VARIANTS[variant]
    envs, singles = (
        native(wrap, mode, **settings),
        gym.make_vec(
            "GraphActionBandit-v0",
            3,
            vectorization_mode="sync",
            wrappers=[wrap],
            vector_kwargs={"autoreset_mode": mode},
            **settings,
        ),
    )
    assert envs.observation_space == singles.observation_space
    assert envs.single_observation_space == singles.single_observation_space
    assert envs.single_action_space == singles.single_action_space
    found, expected = (one.reset(seed=SEEDS)[0] for one in (envs, singles))
    assert equal(found, expected)
    ended = 0
    for _ in range(10):
        masks = envs.action_masks()
        assert np.array_equal(masks, found["mask"])
        actions = masks.argmax(axis=1)
        found, reward, *_, info = envs.step(actions)
        expected, expected_reward, *_, expected_info = singles.step(actions)
        assert found in envs.observation_space
        assert equal(found, expected)
        assert np.array_equal(reward, expected_reward)
        for one, other in zip(info.get("final_obs", ()), expected_info.get("final_obs", ()), strict=True):
            assert equal(one, other)
            ended += 1
    assert (ended > 0) == (mode == "SameStep")
