"""`spec.max_episode_steps`, which wrappers of Gymnasium and other libraries look up, is the horizon."""

import copy

import gymnasium as gym
import pytest
from gymnasium.error import ResetNeeded

SMALL = {"num_graphs": 3, "num_nodes": 4, "feature_dim": 2}


def make(**settings):
    return gym.make("GraphActionBandit-v0", **SMALL, **settings)


def endings(env, rounds):
    env.reset(seed=0)
    return [env.step(0)[2:4] for _ in range(rounds)]


@pytest.mark.parametrize(
    ("settings", "limit", "expected"),
    [({"horizon": 7}, None, 7), ({"horizon": 7}, 4, 4), ({"horizon": 7}, -1, 7), ({}, None, 1000)],
)
def test_it_is_the_horizon_or_a_time_limit(settings, limit, expected):
    env = make(**settings, max_episode_steps=limit)
    assert env.spec.max_episode_steps == expected
    assert gym.spec("GraphActionBandit-v0").max_episode_steps is None  # of all bandits, whatever their horizon


def test_an_environment_that_is_made_from_a_spec_ends_its_episodes_in_the_same_round():
    for made in (gym.make(make(horizon=2).spec), gym.make(copy.deepcopy(make(horizon=2).spec))):
        assert made.spec.max_episode_steps == 2
        assert endings(made, 2) == [(False, False), (False, True)]
        with pytest.raises(ResetNeeded):
            made.unwrapped.step(0)
