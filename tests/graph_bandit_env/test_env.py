import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import registry
from graph_bandit_env import GraphSet

VARIANTS = {
    "default": {},
    "rdpg": {"graph_model": "rdpg"},
    "mixed": {"graph_model": "mixed", "reward_model": "transitivity"},
    "weighted": {"graph_model": "weighted", "reward_model": "spanning_tree"},
    "directed": {"graphs": GraphSet([[[1.0]] * 3] * 4, [[(0, 1), (1, 2)]] * 4, directed=True)},
    "gp_gntk": {"reward_model": "gp_gntk"},
    "indices": {"observe": "indices"},
    "subsets": {"actions_per_round": 2},
    "subsets of indices": {"actions_per_round": 2, "observe": "indices"},
    "one round": {"horizon": 1},
    "no edges": {"edge_prob": 0.0},
    "one node": {"num_nodes": 1},
    "one graph": {"num_graphs": 1},
    "uniform noise": {"noise": "uniform"},
    "no noise": {"noise_std": 0.0},
    "noise of each graph": {"noise_std": [0.0, 0.1, 1.0, 2.0]},
    "new graphs": {"resample_graphs": True, "reward_model": "gp_gntk"},
    "new graphs each round": {"resample_graphs": "round"},
    "walk": {"drift": "walk"},
    "jump": {"drift": "jump", "drift_rate": 0.5, "reward_model": "gp_gntk"},
}


@pytest.fixture(params=VARIANTS.values(), ids=VARIANTS)
def variant(request):
    drawn = {"num_graphs": 4, "num_nodes": 5, "feature_dim": 3}
    drawn = {"reward_model": "linear"} if "graphs" in request.param else drawn
    return {"horizon": 12, **drawn, **request.param}


def episode(env, rounds, seed=None, **options):
    _, info = env.reset(seed=seed, **options)
    trace = [info["action_mask"].tolist()]
    for _ in range(rounds):
        action = int(np.flatnonzero(info["action_mask"])[-1])
        _, reward, terminated, truncated, info = env.step(action)
        trace.append((reward, terminated, truncated, info["regret"], info["action_mask"].tolist()))
    return trace


def test_passes_gymnasiums_own_check_without_a_warning(variant):  # warnings are errors in this suite
    if "actions_per_round" in variant:  # the check plays any action, and here most are masked out
        del variant["actions_per_round"]
    assert check_env(gym.make("GraphActionBandit-v0", **variant).unwrapped, skip_render_check=True) is None


def test_equal_seeds_give_equal_episodes_and_other_seeds_others(variant):
    rounds = variant["horizon"]
    first, again, other = (episode(registry.make_environment(**variant), rounds, s) for s in (3, 3, 4))
    assert first == again
    if variant.get("num_graphs", 4) > 1:
        assert first != other


def test_info_tells_mean_optimum_and_regret_of_the_round_and_what_the_next_one_offers(variant):
    env = registry.make_environment(**variant)
    _, info = env.reset(seed=0)
    assert set(info) == {"action_mask"}
    for _ in range(variant["horizon"]):
        mask, means = info.pop("action_mask"), env.unwrapped.mean_rewards
        assert (mask.dtype, mask.shape) == (np.int8, (variant.get("num_graphs", 4),))
        offered = np.flatnonzero(mask)
        assert len(offered) == variant.get("actions_per_round", len(mask))
        _, reward, *_, info = env.step(int(offered[0]))
        told = [info[name] for name in ("mean_reward", "optimal_mean_reward", "optimal_action", "regret")]
        best = means[offered].max()
        assert told == [means[offered[0]], best, offered[means[offered].argmax()], best - means[offered[0]]]
        assert {type(value) for value in told} == {np.float64, np.int64}  # TorchRL asks each for its dtype
        assert reward == means[offered[0]] or variant.get("noise_std") != 0.0
        assert len(info) == 5


@pytest.mark.parametrize(
    "settings", [{"actions_per_round": 2}, *({"drift": name, "drift_rate": 0.5} for name in ("walk", "jump"))], ids=str
)
def test_the_instance_does_not_depend_on_what_is_played_or_on_the_noise(small_env, settings):
    shown = []
    for noise, place in (("gaussian", -1), (lambda rng, mean: rng.normal(size=7)[0], 0)):
        env = small_env(noise=noise, **settings)
        _, info = env.reset(seed=5)
        for _ in range(10):
            shown.append((env.unwrapped.mean_rewards.tolist(), info["action_mask"].tolist()))
            _, _, _, _, info = env.step(int(np.flatnonzero(info["action_mask"])[place]))
    assert shown[:10] == shown[10:]
    assert shown[0] != shown[9]


def test_a_reset_without_seed_keeps_the_instance_and_goes_on_with_the_noise(small_env):
    env = small_env()
    first = episode(env, 5, 0)
    graph_set, means = env.unwrapped.graph_set, env.unwrapped.mean_rewards
    second = episode(env, 5)
    assert env.unwrapped.graph_set is graph_set
    assert np.array_equal(env.unwrapped.mean_rewards, means)
    assert [r[0] for r in first[1:]] != [r[0] for r in second[1:]]


@pytest.mark.parametrize("observe", ["graphs", "indices"])
def test_without_replacement_each_graph_is_played_once_and_then_the_episode_ends(small_env, observe):
    env = small_env(replacement=False, observe=observe, actions_per_round=2)
    for _ in range(2):  # the next episode has them all again
        observation, info = env.reset(seed=3)
        played, terminated = [], False
        while not terminated:
            assert observation in env.observation_space
            offered = np.flatnonzero(info["action_mask"])
            assert not set(offered) & set(played)
            played.append(int(offered[-1]))
            observation, _, terminated, truncated, info = env.step(played[-1])
        assert sorted(played) == [0, 1, 2, 3, 4, 5]
        assert not truncated
        assert not info["action_mask"].any()
