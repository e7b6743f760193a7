import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction

import graph_bandit_env  # noqa: F401
from graph_bandit_env.wrappers import BatchedActions, DelayedRewards

SMALL = {"num_graphs": 5, "num_nodes": 4, "horizon": 12}


def make(size=3, wrap=lambda env: env, **settings):
    return BatchedActions(wrap(gym.make("GraphActionBandit-v0", **{**SMALL, **settings})), size)


def test_a_step_plays_its_graphs_as_rounds():
    env, bare = make(size=6), gym.make("GraphActionBandit-v0", **SMALL)  # more graphs than there are: some repeat
    env.reset(seed=1)
    bare.reset(seed=1)
    for actions in np.random.default_rng(0).integers(0, 5, (2, 6)):
        rounds = [bare.step(action) for action in actions]
        _, reward, terminated, truncated, info = env.step(actions)
        assert info["rewards"].tolist() == [one[1] for one in rounds]
        assert reward == pytest.approx(sum(info["rewards"]))
        assert (terminated, truncated) == rounds[-1][2:4]
        for key in ("mean_reward", "optimal_mean_reward", "optimal_action", "regret"):
            expected = [one[4][key] for one in rounds]
            assert info[key].tolist() == expected
            assert info[key].dtype == expected[0].dtype
    assert truncated


def test_where_an_episode_ends_within_a_step_the_rest_is_not_played():
    env = make(horizon=4)
    env.reset(seed=0)
    assert env.step([0, 1, 2])[-1]["played"] == 3
    _, reward, _, truncated, info = env.step([3, 4, 4])
    assert truncated
    assert info["played"] == 1
    assert info["rewards"].tolist() == [reward, 0.0, 0.0]
    assert info["regret"].shape == (3,)


def test_the_last_graphs_without_replacement_are_played_and_no_graph_twice():
    env = make(replacement=False)
    env.reset(seed=0)
    *_, info = env.step([4, 0, 2])
    assert info["action_mask"].tolist() == [0, 1, 0, 1, 0]
    assert env.action_masks().tolist() == [False, True, False, True, False] * 3
    _, _, terminated, _, info = env.step([3, 1, 0])  # the third is not there to be played
    assert terminated
    assert info["played"] == 2


@pytest.mark.parametrize(
    ("settings", "actions"),
    [({}, [0, 1]), ({}, [0.0, 1.0, 2.0]), ({}, [0, 1, 5]), ({}, [0, 1, -1]), ({"replacement": False}, [0, 1, 0])],
)
def test_a_step_that_cannot_be_played_is_refused_whole(settings, actions):
    env = make(**settings, horizon=3)
    env.reset(seed=0)
    with pytest.raises(InvalidAction):
        env.step(actions)
    _, _, _, truncated, info = env.step([0, 1, 2])
    assert truncated
    assert info["played"] == 3  # of three rounds, so none was played before


def test_rewards_that_come_late_within_a_batch_are_rows_of_its_rounds():
    env = make(wrap=lambda env: DelayedRewards(env, 2))
    env.reset(seed=0)
    _, reward, _, _, info = env.step([1, 3, 4])
    assert info["came"].tolist() == [0, 0, 1]
    assert info["came_actions"].shape == (3, 3)
    assert info["came_actions"][2, 0] == 1
    assert reward == info["rewards"][2] == info["came_rewards"][2, 0]
