import gymnasium as gym
import numpy as np
import pytest
from support.graphs import ragged_graphs

from graph_bandit_env import wrappers
from graph_bandit_env.wrappers import vector

OWN = {"graphs": ragged_graphs(), "horizon": 3, "reward_model": [0.0, 1.0, 2.0, 3.0], "observe": "indices"}


@pytest.mark.parametrize(
    ("settings", "mode"),
    [({"actions_per_round": 2}, "NextStep"), ({"replacement": False, "horizon": 9}, "SameStep")],
)
def test_indices_are_those_of_bandits_that_were_wrapped_one_by_one(settings, mode):
    envs = vector.GraphSetIndices(gym.make_vec("GraphActionBandit-v0", 3, autoreset_mode=mode, **OWN | settings))
    options = {"wrappers": [wrappers.GraphSetIndices], "vector_kwargs": {"autoreset_mode": mode}}
    singles = gym.make_vec("GraphActionBandit-v0", 3, vectorization_mode="sync", **options, **OWN | settings)
    assert envs.observation_space == singles.observation_space
    (found, info), (expected, other) = (one.reset(seed=[4, 0, 9]) for one in (envs, singles))
    for _ in range(10):
        for one, its in ((found, expected), *zip(info.get("final_obs", ()), other.get("final_obs", ()), strict=True)):
            assert all(np.array_equal(one[key], its[key]) and one[key].dtype == its[key].dtype for key in its)
        assert np.array_equal(envs.action_masks(), found["mask"])
        actions = found["mask"].argmax(axis=1)
        (found, *_, info), (expected, *_, other) = envs.step(actions), singles.step(actions)
