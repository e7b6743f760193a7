from itertools import cycle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.spaces import GraphInstance
from support.graphs import ragged_graphs

from graph_bandit_env import spread_seeds

SEEDS = [7, 0, 123456789012]
POOL = {"graphs": ragged_graphs(), "reward_model": "linear"}
VARIANTS = {
    "graphs": {"observe": "graphs"},
    "indices": {},
    "one round": {"horizon": 1},
    "subsets": {"actions_per_round": 2},
    "used up": {"replacement": False, "horizon": 9},
    "subsets used up": {"replacement": False, "actions_per_round": 2},
    "rademacher noise": {"noise": "rademacher"},
    "user's noise": {"noise": lambda rng, mean: mean * rng.normal()},
    "noise drawn for each graph": {"noise_draws": "graph"},
    "noise of each graph": {"noise_std": [0.0, 0.1, 1.0, 2.0]},
    "new graphs": {"resample_graphs": True, "observe": "graphs"},
    "new graphs each round": {"resample_graphs": "round", "observe": "graphs"},
    "some of the new graphs each round": {"resample_graphs": "round", "observe": "graphs", "actions_per_round": 2},
    "subsets of a pool each round": {**POOL, "num_graphs": 2, "resample_graphs": "round", "observe": "graphs"},
    "ragged": {**POOL, "observe": "graphs"},
    "subsets of a pool": {**POOL, "num_graphs": 2, "resample_graphs": True},
    "sizes that vary": {"num_graphs": (2, 6), "num_nodes": (1, 5), "resample_graphs": "round", "observe": "graphs"},
    "sizes that vary, noise drawn for each graph": {
        "num_graphs": (2, 6),
        "resample_graphs": True,
        "noise_draws": "graph",
    },
    "subsets of any size": {**POOL, "num_graphs": (1, 3), "resample_graphs": True, "actions_per_round": 2},
    "means that walk": {"drift": "walk", "drift_rate": 0.3},
    "means that jump": {"drift": "jump", "drift_rate": 0.5, "observe": "graphs"},
    "means that walk, used up": {"drift": "walk", "replacement": False, "horizon": 9},
    "means that jump, subsets of any size": {"drift": "jump", "num_graphs": (2, 6), "actions_per_round": 2},
    "means of a pool that walk, user's noise": {
        **POOL,
        "drift": "walk",
        "noise": lambda rng, mean: mean * rng.normal(),
    },
    "time limit": {"max_episode_steps": 2},
}


def settings_of(variant):
    drawn = {} if "graphs" in VARIANTS[variant] else {"num_graphs": 4, "num_nodes": 5, "feature_dim": 3}
    return {"observe": "indices", "horizon": 3, "noise_std": 0.5, **drawn, **VARIANTS[variant]}


def native(mode="NextStep", num_envs=3, **settings):
    return gym.make_vec("GraphActionBandit-v0", num_envs=num_envs, autoreset_mode=mode, **settings)


def plain(value):
    """Values that `==` compares, types and all."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, GraphInstance):
        return tuple(plain(array) for array in value)
    if isinstance(value, np.ndarray):
        entries = [plain(entry) for entry in value] if value.dtype == object else value.tolist()
        return str(value.dtype), value.shape, entries
    return [plain(entry) for entry in value] if isinstance(value, (tuple, list)) else value


def trajectory(envs, mode, rounds=8):
    observation, info = envs.reset(seed=SEEDS)
    assert observation in envs.observation_space
    trace = [plain(observation), plain(info)]
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        masks = info["action_mask"]
        actions = np.array([rng.choice(np.flatnonzero(row)) if row.any() else 0 for row in masks])
        observation, reward, terminated, truncated, info = envs.step(actions)
        trace.append(plain([observation, reward, terminated, truncated, info]))
        over = terminated | truncated
        if mode == "Disabled" and over.any():
            observation, reset_info = envs.reset(options={"reset_mask": over})
            trace.append(plain([observation, reset_info]))
            info["action_mask"] = np.where(over[:, None], reset_info["action_mask"], info["action_mask"])
    envs.close()
    return trace


@pytest.mark.parametrize(("variant", "mode"), [*zip(VARIANTS, cycle(["NextStep", "SameStep", "Disabled"]))])
def test_trajectories_are_those_of_gymnasiums_sync_environment(variant, mode):
    settings = settings_of(variant)
    options = {"vectorization_mode": "sync", "vector_kwargs": {"autoreset_mode": mode}}
    expected = trajectory(gym.make_vec("GraphActionBandit-v0", 3, **options, **settings), mode)
    assert trajectory(native(mode, **settings), mode) == expected


def test_a_seed_is_mixed_so_that_neighbouring_seeds_share_nothing():
    assert not set(spread_seeds(0, 50)) & set(spread_seeds(1, 50))
    assert spread_seeds(3, 50)[:5] == spread_seeds(3, 5)
    first, again = native(**settings_of("indices")), native(**settings_of("indices"))
    first.reset(seed=4)
    again.reset(seed=spread_seeds(4, 3))
    assert np.array_equal(first.mean_rewards, again.mean_rewards)


def test_noise_that_is_drawn_ahead_goes_on_over_many_blocks_and_ends_with_its_instance():
    settings = settings_of("indices") | {"horizon": 700}
    envs, singles = native(**settings), [gym.make("GraphActionBandit-v0", **settings) for _ in SEEDS]
    for seeds in (SEEDS, [1, 2, 3]):
        envs.reset(seed=seeds)
        for env, seed in zip(singles, seeds, strict=True):
            env.reset(seed=seed)
        for _ in range(300):
            rewards = envs.step(np.zeros(3, int))[1]
        for env, reward in zip(singles, rewards, strict=True):
            assert [env.step(0)[1] for _ in range(300)][-1] == reward


def test_a_bandit_without_seed_draws_one_of_its_own():
    envs = native(**settings_of("indices"))
    envs.reset(seed=[3, None, None])
    first = envs.mean_rewards
    envs.reset(seed=[3, None, None])
    assert np.array_equal(first, envs.mean_rewards)  # None keeps an instance that is there
    envs.reset(options={"resample": True})
    assert not np.isclose(first, envs.mean_rewards).any()


@pytest.mark.parametrize("actions", [[0, 0, 4], [0, -1, 0], [0, 0], [0.0, 1.0, 2.0], 0])
def test_an_action_that_is_none_is_refused_and_nothing_is_changed(actions):
    envs, twin = native(**settings_of("indices")), native(**settings_of("indices"))
    for one in (envs, twin):
        one.reset(seed=0)
    with pytest.raises(InvalidAction):
        envs.step(np.array(actions))
    assert np.array_equal(envs.step(np.zeros(3, int))[1], twin.step(np.zeros(3, int))[1])


def test_a_masked_action_is_refused_by_its_bandit():
    envs = native(**settings_of("subsets"))
    _, info = envs.reset(seed=0)
    actions = info["action_mask"].argmax(axis=1)
    actions[1] = info["action_mask"][1].argmin()
    with pytest.raises(InvalidAction, match="action_mask.*bandit 1"):
        envs.step(actions)


def test_an_episode_that_is_over_needs_a_reset_where_nothing_begins_the_next():
    envs = native("Disabled", **settings_of("one round"))
    with pytest.raises(ResetNeeded):
        envs.step(np.zeros(3, int))
    envs.reset(seed=0)
    envs.step(np.zeros(3, int))
    with pytest.raises(ResetNeeded):
        envs.step(np.zeros(3, int))


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"seed": [1, 2]}, "seeds"),
        ({"seed": [1, -2, 3]}, "seeds"),
        ({"seed": -1}, "non-negative"),
        ({"options": {"reset_mask": [True, False]}}, "reset_mask"),
        ({"options": {"reset_mask": np.zeros(3, bool)}}, "reset_mask"),
        ({"options": {"resmple": True}}, "resample"),
    ],
)
def test_reset_refuses_what_it_does_not_know(options, field):
    with pytest.raises(ValueError, match=field):
        native(**settings_of("indices")).reset(**options)
