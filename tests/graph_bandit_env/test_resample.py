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


@pytest.mark.parametrize(("reward_model", "scale"), [*zip(REWARDS, ("raw", "unit", "unit"), strict=True)])
def test_one_reward_function_holds_for_all_episodes(reward_model, scale):
    env = make(reward_model=reward_model, reward_scale=scale)
    env.reset(seed=0)
    function = env._instance.source.args[1]
    for graph_set, means in episodes(env, 3):
        assert np.array_equal(function(graph_set), means)
        for k in range(4):  # it does not depend on the other graphs of the set
            assert function(graph_set.take([k])) == pytest.approx(means[k], rel=1e-5, abs=1e-6)


def test_the_scale_is_that_of_the_distribution_not_of_each_set():
    sets = episodes(make(reward_scale="unit", num_graphs=50), 20, seed=0)
    means = np.array([means for _, means in sets])
    assert means.mean() == pytest.approx(0, abs=0.2)
    assert means.std() == pytest.approx(1, rel=0.15)
    assert means.std(axis=1).std() > 0.01


def rounds(env, count, seed):
    """Observation, means and info of some rounds, in which action 1 is played."""
    observation, info = env.reset(seed=seed)
    for _ in range(count):
        means = env.mean_rewards
        following, reward, *_, info = env.step(1)
        yield observation, means, reward, info
        observation = following


@pytest.mark.parametrize("reward_model", REWARDS)
def test_each_round_has_graphs_of_its_own_and_regret_against_its_best(reward_model):
    env = make(resample_graphs="round", horizon=6, reward_model=reward_model, noise_std=0.0)
    env.reset(seed=2)
    function = env._instance.source.args[1]
    drawn = set()
    for observation, means, reward, info in rounds(env, 6, seed=2):
        assert np.array_equal(
            function(GraphSet([g.nodes for g in observation], [g.edge_links for g in observation])), means
        )
        assert reward == pytest.approx(means[1])
        assert info["regret"] == pytest.approx(means.max() - means[1])
        assert info["optimal_action"] == means.argmax()
        drawn.add(observation[0].nodes[0, 0])
    assert len(drawn) == 6
    again = make(resample_graphs="round", horizon=6, reward_model=reward_model, noise_std=0.0)
    assert [info["regret"] for *_, info in rounds(again, 6, seed=2)] == [
        info["regret"] for *_, info in rounds(env, 6, seed=2)
    ]


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
    graphs = ragged_graphs()
    env = make_pool(graphs=graphs, num_graphs=2, reward_model=[0.0, 10.0, 20.0, 30.0])
    sizes = {5: 0.0, 1: 10.0, 7: 20.0, 3: 30.0}
    seen = set()
    for graph_set, means in episodes(env, 20, seed=0):
        assert len(graph_set) == 2
        assert means.tolist() == [sizes[n] for n in graph_set.num_nodes]
        seen.update(means)
    assert seen == {0.0, 10.0, 20.0, 30.0}


def make_pool(**settings):
    return gym.make("GraphActionBandit-v0", resample_graphs=True, horizon=2, **settings).unwrapped
