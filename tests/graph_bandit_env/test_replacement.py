import gymnasium as gym
import numpy as np
import pytest

import graph_bandit_env  # noqa: F401


@pytest.mark.parametrize("observe", ["graphs", "indices"])
@pytest.mark.parametrize("actions_per_round", [None, 2])
def test_without_replacement_each_graph_is_played_once_and_then_the_episode_ends(observe, actions_per_round):
    env = gym.make(
        "GraphActionBandit-v0",
        num_graphs=5,
        num_nodes=3,
        replacement=False,
        observe=observe,
        actions_per_round=actions_per_round,
    )
    for _ in range(2):  # the next episode has them all again
        observation, info = env.reset(seed=3)
        played, means = [], env.unwrapped.mean_rewards
        while True:
            assert observation in env.observation_space
            offered = np.flatnonzero(info["action_mask"])
            assert not set(offered) & set(played)
            action = int(offered[-1])
            observation, _, terminated, truncated, info = env.step(action)
            assert info["regret"] == pytest.approx(means[offered].max() - means[action])
            played.append(action)
            if terminated:
                break
        assert sorted(played) == [0, 1, 2, 3, 4]
        assert not truncated
        assert not info["action_mask"].any()
