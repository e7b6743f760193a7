"""Numbers of graphs and of nodes that vary from set to set."""

import gymnasium as gym
import pytest

import graph_bandit_env  # noqa: F401

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


@pytest.mark.parametrize("reward_model", ["linear", "gp_gntk"])
def test_the_reward_of_a_graph_does_not_depend_on_the_largest_beside_it(reward_model):
    env = make(reward_model=reward_model, num_nodes=(2, 30))
    env.reset(seed=0)
    function = env._instance.source.args[1]
    for _ in range(3):
        for k, mean in enumerate(env.mean_rewards):
            assert function(env.graph_set.take([k])) == pytest.approx(mean, rel=1e-5, abs=1e-6)
        env.step(0)
