"""`spec.max_episode_steps`, which wrappers of Gymnasium and other libraries look up, is the horizon."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TimeAwareObservation, TimeLimit

from graph_bandit_env import GraphActionBandit
from graph_bandit_env.wrappers import PaddedGraphSet

SMALL = {"num_graphs": 3, "num_nodes": 4, "feature_dim": 2}


def make(**settings):
    return gym.make("GraphActionBandit-v0", **SMALL, **settings)


def endings(env, rounds):
    env.reset(seed=0)
    return [env.step(0)[2:4] for _ in range(rounds)]


def test_time_aware_observation_counts_down_to_the_horizon():
    env = TimeAwareObservation(PaddedGraphSet(make(horizon=3)), flatten=False, normalize_time=True)
    times = [env.reset(seed=0)[0]["time"]] + [env.step(0)[0]["time"] for _ in range(3)]
    assert np.concatenate(times) == pytest.approx([0, 1 / 3, 2 / 3, 1])


@pytest.mark.parametrize(
    ("settings", "limit", "expected"),
    [({"horizon": 7}, None, 7), ({"horizon": 7}, 4, 4), ({"horizon": 7}, -1, 7), ({}, None, 1000)],
)
def test_it_is_the_horizon_or_a_time_limit(settings, limit, expected):
    env = make(**settings, max_episode_steps=limit)
    assert env.spec.max_episode_steps == expected
    assert gym.spec("GraphActionBandit-v0").max_episode_steps is None  # of all bandits, whatever their horizon


def test_no_wrapper_is_added_and_the_environment_says_itself_how_an_episode_ends():
    env = make(horizon=1)
    assert not isinstance(env, TimeLimit)
    assert endings(env, 1) == [(True, False)]
    assert endings(make(horizon=2), 2) == [(False, False), (False, True)]


def test_an_environment_that_is_made_from_a_spec_ends_its_episodes_in_the_same_round():
    for made in (gym.make(make(horizon=2).spec), gym.make(copy.deepcopy(make(horizon=2).spec))):
        assert made.spec.max_episode_steps == 2
        assert endings(made, 2) == [(False, False), (False, True)]


@pytest.mark.parametrize(
    ("settings", "expected"), [({}, 7), ({"max_episode_steps": 4}, 4), ({"max_episode_steps": 9}, 7)]
)
def test_many_bandits_say_it_too(settings, expected):
    envs = gym.make_vec("GraphActionBandit-v0", 2, **SMALL, horizon=7, **settings)
    assert envs.spec.max_episode_steps == expected
    sync = gym.make_vec("GraphActionBandit-v0", 2, vectorization_mode="sync", **SMALL, horizon=7)
    assert [env.spec.max_episode_steps for env in sync.envs] == [7, 7]


def test_an_environment_that_gymnasium_has_not_made_has_no_spec_and_copies_keep_theirs():
    assert GraphActionBandit(**SMALL).spec is None
    env = pickle.loads(pickle.dumps(make(horizon=5)))
    assert env.spec.max_episode_steps == 5
