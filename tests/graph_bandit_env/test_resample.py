import gymnasium as gym
import numpy as np
import pytest
from support.graphs import ragged_graphs

import graph_bandit_env  # noqa: F401
from graph_bandit_env import GraphSet

SMALL = {"num_graphs": 4, "num_nodes": 5, "feature_dim": 3, "horizon": 2, "resample_graphs": True}
REWARDS = ("linear", "gp_gntk", lambda graph: graph.x.sum().item())


def make(**settings):
    return gym.make("GraphActionBandit-v0", **{**SMALL, **settings}).unwrapped


def episodes(env, count, seed=None):
    """Graph sets and means of some episodes."""
    found = []
    for _ in range(count):
        env.reset(seed=seed)
        seed = None
        found.append((env.graph_set, env.mean_rewards))
    return found


EACH_ROUND = {"resample_graphs": "round", "horizon": 6}


@pytest.mark.parametrize(("reward_model", "scale"), [*zip(REWARDS, ("raw", "unit", "unit"), strict=True)])
@pytest.mark.parametrize("settings", [{}, EACH_ROUND, {**EACH_ROUND, "num_graphs": (2, 6), "num_nodes": (2, 30)}])
def test_one_reward_function_holds_for_all_graphs_of_all_episodes_and_rounds(reward_model, scale, settings):
    env = make(reward_model=reward_model, reward_scale=scale, **settings)
    drawn = set()
    for seed in (0, None, None):
        observation, _ = env.reset(seed=seed)
        function = env._instance.source.args[1]
        for _ in range(2):
            seen = GraphSet([graph.nodes for graph in observation], [graph.edge_links for graph in observation])
            assert np.array_equal(function(seen), env.mean_rewards)
            for k, mean in enumerate(env.mean_rewards):  # it does not depend on the other graphs of the set
                assert function(seen.take([k])) == pytest.approx(mean, rel=1e-5, abs=1e-6)
            drawn.add(observation[0].nodes[0, 0])
            observation, *_ = env.step(1)
    assert len(drawn) == (6 if settings else 3)


def test_the_scale_is_that_of_the_distribution_not_of_each_set():
    sets = episodes(make(reward_scale="unit", num_graphs=50), 20, seed=0)
    means = np.array([means for _, means in sets])
    assert means.mean() == pytest.approx(0, abs=0.2)
    assert means.std() == pytest.approx(1, rel=0.15)
    assert means.std(axis=1).std() > 0.01


@pytest.mark.parametrize("reward_model", ["linear", "gp_gntk"])
def test_a_seed_of_the_reward_function_fixes_it_whatever_the_graphs(reward_model):
    envs = [make(reward_model=reward_model, reward_seed=3) for _ in range(2)]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
    first, second = envs
    assert not np.array_equal(first.graph_set[0].nodes, second.graph_set[0].nodes)
    assert np.array_equal(second._instance.source.args[1](first.graph_set), first.mean_rewards)
    other = make(reward_model=reward_model, reward_seed=4)
    other.reset(seed=0)
    assert np.array_equal(other.graph_set[0].nodes, first.graph_set[0].nodes)
    assert not np.isclose(other.mean_rewards, first.mean_rewards).any()


def test_equal_seeds_of_bandit_and_reward_function_have_nothing_in_common():
    env = make(num_graphs=100, reward_seed=0, reward_scale="unit", num_nodes=6)
    env.reset(seed=0)
    assert abs(env.mean_rewards.mean()) > 1e-6  # it would be 0, were these graphs the examples of the scale


def test_some_graphs_of_a_pool_are_drawn_for_each_episode_with_their_own_means():
    pool = {"graphs": ragged_graphs(), "num_graphs": 2, "reward_model": [0.0, 10.0, 20.0, 30.0]}
    env = gym.make("GraphActionBandit-v0", resample_graphs=True, horizon=2, **pool).unwrapped
    sizes = {5: 0.0, 1: 10.0, 7: 20.0, 3: 30.0}
    seen = set()
    for graph_set, means in episodes(env, 20, seed=0):
        assert len(graph_set) == 2
        assert means.tolist() == [sizes[n] for n in graph_set.num_nodes]
        seen.update(means)
    assert seen == {0.0, 10.0, 20.0, 30.0}


@pytest.mark.parametrize("graph_model", ["er", "rdpg"])
def test_every_number_between_the_least_and_the_most_comes_up(graph_model):
    env = make(graph_model=graph_model, resample_graphs="round", num_graphs=(2, 6), num_nodes=(1, 5), horizon=40)
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
