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
    "static": (wrappers.PaddedGraphSet, RANDOM),
    "ragged": (wrappers.PaddedGraphSet, OWN),
    "new graphs": (wrappers.PaddedGraphSet, {**RANDOM, "resample_graphs": True}),
    "subsets of a pool": (wrappers.PaddedGraphSet, {**OWN, "num_graphs": 2, "resample_graphs": True}),
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


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("variant", VARIANTS)
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


def test_observations_are_fresh_each_round():
    envs = native(wrappers.PaddedGraphSet, "NextStep", **RANDOM)
    first, _ = envs.reset(seed=0)
    kept = first["x"].copy()
    first["x"][:] = 7.0
    assert np.array_equal(envs.step(np.zeros(3, int))[0]["x"], kept)


def test_room_for_more_graphs_is_empty_and_never_on_offer():
    native_envs = gym.make_vec("GraphActionBandit-v0", 3, observe="indices", **OWN)
    envs = vector.PaddedGraphSet(native_envs, max_graphs=6)
    observation, _ = envs.reset(seed=0)
    assert observation in envs.observation_space
    assert envs.single_action_space.n == 6
    assert not envs.action_masks()[:, 4:].any()
    assert not observation["n_node"][:, 4:].any()


@pytest.mark.parametrize("wrap", [vector.PaddedGraphSet, vector.GraphSetIndices])
def test_another_vector_environment_is_told_how_it_is_wrapped(wrap):
    with pytest.raises(TypeError, match=rf"wrappers=\[graph_bandit_env.wrappers.{wrap.__name__}\]"):
        wrap(gym.make_vec("GraphActionBandit-v0", 2, vectorization_mode="sync", **OWN))


def test_indices_ask_for_an_environment_that_observes_them():
    with pytest.raises(TypeError, match='observe="indices"'):
        vector.GraphSetIndices(gym.make_vec("GraphActionBandit-v0", 2, **OWN))
