import gymnasium as gym
import numpy as np
import pytest
from support.graphs import ragged_graphs

from graph_bandit_env import GraphActionBanditVector, spread_seeds

PLAIN, PADDED = "GraphActionBandit-v0", "GraphActionBanditPadded-v0"
POOL = {"graphs": ragged_graphs(), "reward_model": "linear"}
SMALL = {"num_graphs": 4, "num_nodes": 5, "feature_dim": 3}
VARIANTS = {
    "graphs": (PLAIN, SMALL),
    "indices, used up": (PLAIN, {**SMALL, "observe": "indices", "replacement": False}),
    "new graphs each round": (PLAIN, {**SMALL, "resample_graphs": "round"}),
    "sizes that vary": (PLAIN, {"num_graphs": (2, 6), "num_nodes": (1, 5), "resample_graphs": True}),
    "means that walk": (PLAIN, {**POOL, "drift": "walk", "drift_rate": 0.3, "observe": "indices"}),
    "time limit": (PLAIN, {**SMALL, "max_episode_steps": 2}),
    "one function for all": (PLAIN, {**SMALL, "reward_seed": 3}),
    "padded": (PADDED, {**SMALL, "mask_dtype": "bool", "actions_per_round": 2}),
    "padded, more room": (PADDED, {**POOL, "max_nodes": 9, "max_edges": 50, "max_graphs": 6}),
    "padded, new graphs": (PADDED, {**SMALL, "resample_graphs": True}),
    "padded, new graphs each round": (PADDED, {**SMALL, "resample_graphs": "round"}),
    "padded, sizes that vary": (PADDED, {**SMALL, "num_graphs": (2, 4), "resample_graphs": True}),
}


@pytest.mark.parametrize(("name", "settings"), VARIANTS.values(), ids=VARIANTS)
def test_each_bandit_plays_as_it_would_alone(name, settings):
    settings = {"horizon": 3, "noise_std": 0.5, **settings}
    envs = gym.make_vec(name, 3, autoreset_mode="SameStep", **settings)
    singles = [gym.make(name, **settings) for _ in range(3)]
    found, info = envs.reset(seed=4)
    alone = [env.reset(seed=seed) for env, seed in zip(singles, spread_seeds(4, 3), strict=True)]
    for _ in range(7):
        assert found in envs.observation_space
        for mask, (observation, its) in zip(info["action_mask"], alone, strict=True):
            assert np.array_equal(mask, its["action_mask"])
            if isinstance(observation, dict):
                assert np.array_equal(observation["mask"], mask)
        actions = info["action_mask"].argmax(axis=1)
        found, rewards, *_, info = envs.step(actions)
        played = [env.step(action) for env, action in zip(singles, actions, strict=True)]
        assert rewards.tolist() == [reward for _, reward, *_ in played]
        alone = [
            env.reset() if over or late else (observation, its)
            for env, (observation, _, over, late, its) in zip(singles, played, strict=True)
        ]
        for k, (observation, _) in enumerate(alone):
            for key in observation if isinstance(observation, dict) else ():
                assert np.array_equal(found[key][k], observation[key])


def test_a_seed_is_mixed_so_that_neighbouring_seeds_share_nothing():
    assert not set(spread_seeds(0, 50)) & set(spread_seeds(1, 50))
    assert spread_seeds(3, 50)[:5] == spread_seeds(3, 5)


def test_what_the_arguments_fix_is_drawn_once():
    bandits = GraphActionBanditVector(3, **SMALL, reward_seed=3).get_attr("bandit")
    assert len({*map(id, bandits)}) == 1
