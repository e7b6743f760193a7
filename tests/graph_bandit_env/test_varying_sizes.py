"""Numbers of graphs and of nodes that vary from set to set."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction
from stable_baselines3 import PPO
from support.graphs import ragged_graphs

import graph_bandit_env  # noqa: F401
from agents.sb3 import SB3VecEnv
from graph_bandit_env.wrappers import PaddedGraphSet, unpad

VARYING = {"num_graphs": (2, 6), "num_nodes": (1, 5), "feature_dim": 3, "resample_graphs": "round", "horizon": 40}


def make(**settings):
    return gym.make("GraphActionBandit-v0", **{**VARYING, **settings}).unwrapped


@pytest.mark.parametrize("graph_model", ["er", "rdpg"])
def test_every_number_between_the_least_and_the_most_comes_up(graph_model):
    env = make(graph_model=graph_model)
    observation, info = env.reset(seed=0)
    counts, nodes = set(), set()
    for _ in range(40):
        assert observation in env.observation_space
        assert info["action_mask"].tolist() == [k < len(observation) for k in range(6)]
        assert len(env.mean_rewards) == len(observation)
        counts.add(len(observation))
        nodes |= {len(graph.nodes) for graph in observation}
        observation, *_, info = env.step(0)
    assert counts == {2, 3, 4, 5, 6}
    assert nodes == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("resample_graphs", [False, "episode"])
def test_where_graphs_stay_for_an_episode_so_does_their_number(resample_graphs):
    env = make(resample_graphs=resample_graphs)
    observation, _ = env.reset(seed=3)
    for _ in range(5):
        later, *_ = env.step(0)
        assert len(later) == len(observation)


def test_the_space_holds_from_one_graph_to_the_most_and_its_samples():
    env = make()
    observation, _ = env.reset(seed=0)
    space = env.observation_space
    assert () not in space
    assert observation[:1] * 6 in space
    assert observation[:1] * 7 not in space
    space.seed(0)
    assert {len(space.sample()) for _ in range(40)} == {1, 2, 3, 4, 5, 6}
    assert all(space.sample() in space for _ in range(10))
    assert space == make().observation_space != make(num_graphs=(2, 7)).observation_space


def test_stable_baselines_is_told_which_wrapper_to_use():
    with pytest.raises(TypeError, match="PaddedGraphSet"):
        PPO("MlpPolicy", gym.make("GraphActionBandit-v0", **VARYING))
    envs = gym.make_vec("GraphActionBandit-v0", num_envs=2, autoreset_mode="SameStep", **VARYING)
    with pytest.raises(TypeError, match="PaddedGraphSet"):
        SB3VecEnv(envs)


def test_an_index_without_a_graph_is_refused():
    env = make(resample_graphs=False)
    observation, _ = env.reset(seed=1)
    assert len(observation) == 2
    with pytest.raises(InvalidAction, match="which `action_mask` rules out"):
        env.step(5)


def test_indices_are_those_of_the_graphs_that_exist():
    env = make(resample_graphs="episode", observe="indices")
    observation, info = env.reset(seed=0)
    assert observation in env.observation_space
    assert observation[observation >= 0].tolist() == np.flatnonzero(info["action_mask"]).tolist()


@pytest.mark.parametrize("reward_model", ["linear", "gp_gntk", "gp_representation_relu"])
def test_the_reward_of_a_graph_does_not_depend_on_the_largest_beside_it(reward_model):
    env = make(reward_model=reward_model, num_nodes=(2, 30))
    env.reset(seed=0)
    function = env._instance._source.rewards
    for _ in range(3):
        for k, mean in enumerate(env.mean_rewards):
            assert function(env.graph_set.take([k])) == pytest.approx(mean, rel=1e-5, abs=1e-6)
        env.step(0)


def test_common_noise_does_not_depend_on_what_was_played():
    first, second = make(common_noise=True), make(common_noise=True)
    first.reset(seed=0)
    second.reset(seed=0)
    for t in range(20):
        if t % 4 == 3:
            _, one, *_, info = first.step(0)
            _, other, *_ = second.step(0)
            assert one == other
            assert info["mean_reward"] != one
        else:
            first.step(0)
            second.step(len(second.mean_rewards) - 1)


def test_subsets_of_a_pool_vary_in_size():
    env = gym.make(
        "GraphActionBandit-v0",
        graphs=ragged_graphs((5, 1, 7, 3)),
        reward_model="linear",
        num_graphs=(1, 3),
        resample_graphs=True,
    ).unwrapped
    assert {len(env.reset(seed=seed)[0]) for seed in range(30)} == {1, 2, 3}


def test_padded_observations_have_one_shape_and_the_same_graphs():
    env = PaddedGraphSet(gym.make("GraphActionBandit-v0", **VARYING))
    observation, _ = env.reset(seed=0)
    for _ in range(10):
        assert observation in env.observation_space
        graphs = unpad(observation)
        assert observation["mask"].tolist() == [k < len(graphs) for k in range(6)]
        for padded, graph in zip(graphs, env.unwrapped.graph_set, strict=True):
            np.testing.assert_array_equal(padded.x, graph.nodes)
            np.testing.assert_array_equal(padded.edge_index.T, graph.edge_links)
        observation, *_ = env.step(0)


def test_frames_show_as_many_graphs_as_a_round_has():
    env = gym.make("GraphActionBandit-v0", render_mode="rgb_array", **VARYING).unwrapped
    env.reset(seed=0)
    frames = [env.render()]
    for _ in range(4):
        env.step(0)
        frames.append(env.render())
    assert {frame.shape for frame in frames} == {(540, 960, 3)}
    assert not any(np.array_equal(frames[0], frame) for frame in frames[1:])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_graphs": (6, 2)}, r"`num_graphs` to be an integer >= 1, or \(least, most\). Got \(6, 2\)"),
        ({"num_graphs": (2,)}, r"or \(least, most\). Got \(2,\)"),
        ({"num_nodes": (0, 3)}, r"`num_nodes` to be an integer >= 1, or \(least, most\). Got \(0, 3\)"),
        ({"actions_per_round": 7}, "`actions_per_round` to be an integer >= 1 and <= 6"),
        ({"resample_graphs": False, "reward_model": [1.0] * 6}, "since the number of graphs varies. Got list"),
    ],
)
def test_sizes_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings)


def test_a_pool_is_at_least_as_large_as_its_subsets():
    with pytest.raises(ValueError, match="of your 4 graphs each time, to be at most as many. Got 5"):
        gym.make(
            "GraphActionBandit-v0",
            graphs=ragged_graphs(),
            reward_model="linear",
            num_graphs=(1, 5),
            resample_graphs=True,
        )
