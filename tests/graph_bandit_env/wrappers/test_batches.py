import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction
from gymnasium.spaces import MultiDiscrete
from gymnasium.utils.env_checker import check_env

import graph_bandit_env  # noqa: F401
from graph_bandit_env.wrappers import BatchedActions, DelayedRewards, GraphSetIndices, PaddedGraphSet

SMALL = {"num_graphs": 5, "num_nodes": 4, "horizon": 12}


def make(size=3, wrap=lambda env: env, **settings):
    return BatchedActions(wrap(gym.make("GraphActionBandit-v0", **{**SMALL, **settings})), size)


def test_a_step_plays_its_graphs_as_rounds():
    env, bare = make(), gym.make("GraphActionBandit-v0", **SMALL)
    env.reset(seed=1)
    bare.reset(seed=1)
    for actions in np.random.default_rng(0).integers(0, 5, (4, 3)):
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
    ("settings", "actions", "message"),
    [
        ({}, [0, 1], "Expected 3 integers, the graphs of a step. Got int64 of shape `\\(2,\\)`"),
        ({}, [0.0, 1.0, 2.0], "Expected 3 integers.*Got float64"),
        ({}, [0, 1, 5], "Expected graphs on offer. Got 5"),
        ({}, [0, 1, -1], "Expected graphs on offer. Got -1"),
        ({"replacement": False}, [0, 1, 0], "Expected different graphs.*Got 0 twice"),
    ],
)
def test_a_step_that_cannot_be_played_is_refused_whole(settings, actions, message):
    env = make(**settings, horizon=3)
    env.reset(seed=0)
    with pytest.raises(InvalidAction, match=message):
        env.step(actions)
    _, _, _, truncated, info = env.step([0, 1, 2])
    assert truncated
    assert info["played"] == 3  # of three rounds, so none was played before


def test_a_graph_may_be_measured_several_times_with_replacement():
    env = make()
    env.reset(seed=0)
    *_, info = env.step([2, 2, 2])
    assert len(set(info["mean_reward"])) == 1
    assert len(set(info["rewards"])) == 3


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version", "ignore:.*is -?infinity")
@pytest.mark.parametrize(
    "wrap",
    [lambda env: env, PaddedGraphSet, lambda env: DelayedRewards(env, (0, 2))],
    ids=["graphs", "padded", "delayed"],
)
def test_gymnasium_accepts_batches_around_other_wrappers(wrap):
    env = make(wrap=wrap)
    assert env.action_space == MultiDiscrete([5, 5, 5])
    assert check_env(env, skip_render_check=True) is None


def test_rewards_that_come_late_within_a_batch_are_rows_of_its_rounds():
    env = make(wrap=lambda env: DelayedRewards(env, 2))
    env.reset(seed=0)
    _, reward, _, _, info = env.step([1, 3, 4])
    assert info["came"].tolist() == [0, 0, 1]
    assert info["came_actions"].shape == (3, 3)
    assert info["came_actions"][2, 0] == 1
    assert reward == info["rewards"][2] == info["came_rewards"][2, 0]


def test_indices_and_room_for_more_graphs_keep_their_masks():
    graphs = gym.make("GraphActionBandit-v0", **SMALL)
    graphs.reset(seed=0)
    settings = {"graphs": graphs.unwrapped.graph_set, "reward_model": np.arange(5)}
    indices = BatchedActions(GraphSetIndices(gym.make("GraphActionBandit-v0", observe="indices", **settings)), 2)
    assert indices.reset(seed=0)[0]["mask"].tolist() == [1] * 5
    wide = make(wrap=lambda env: PaddedGraphSet(env, max_graphs=8))
    wide.reset(seed=0)
    assert wide.action_masks().tolist() == ([True] * 5 + [False] * 3) * 3
    assert wide.action_space.nvec.tolist() == [8] * 3
    with pytest.raises(InvalidAction, match="Expected graphs on offer. Got 6"):
        wide.step([0, 6, 1])


@pytest.mark.parametrize("settings", [{"actions_per_round": 3}, {"resample_graphs": "round"}])
def test_rounds_that_offer_different_graphs_are_refused(settings):
    with pytest.raises(ValueError, match="Expected rounds that offer the same graphs"):
        make(**settings)


@pytest.mark.parametrize("size", [0, 6, 2.0, True])
def test_other_sizes_are_refused(size):
    with pytest.raises(ValueError, match="Expected `size` to be an integer >= 1 and <= 5"):
        make(size)


def test_other_environments_and_batches_of_batches_are_refused():
    with pytest.raises(TypeError, match="Expected `GraphActionBandit-v0`, one graph a step"):
        BatchedActions(gym.make("CartPole-v1"), 2)
    with pytest.raises(TypeError, match="one graph a step"):
        BatchedActions(make(), 2)
    with pytest.raises(TypeError, match="one graph a step"):
        PaddedGraphSet(make())


def test_its_spec_makes_it_again():
    assert gym.make(make().spec).get_wrapper_attr("size") == 3
