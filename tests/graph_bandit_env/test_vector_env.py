import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.spaces import GraphInstance
from gymnasium.vector import AutoresetMode
from support.graphs import ragged_graphs

from graph_bandit_env import GraphActionBanditVector, spread_seeds

SEEDS = [7, 0, 123456789012]
POOL = {"graphs": ragged_graphs(), "reward_model": "linear"}
VARIANTS = {
    "graphs": {"observe": "graphs"},
    "indices": {},
    "one round": {"horizon": 1},
    "subsets": {"actions_per_round": 2},
    "used up": {"replacement": False, "horizon": 9},
    "subsets used up": {"replacement": False, "actions_per_round": 2},
    "uniform noise": {"noise": "uniform"},
    "rademacher noise": {"noise": "rademacher"},
    "user's noise": {"noise": lambda rng, mean: mean * rng.normal()},
    "common noise": {"common_noise": True},
    "noise of each graph": {"noise_std": [0.0, 0.1, 1.0, 2.0]},
    "common noise of each graph": {"noise_std": [0.0, 0.1, 1.0, 2.0], "common_noise": True},
    "new graphs": {"resample_graphs": True, "observe": "graphs"},
    "new graphs for one round": {"resample_graphs": True, "horizon": 1, "actions_per_round": 3},
    "new graphs each round": {"resample_graphs": "round", "observe": "graphs"},
    "some of the new graphs each round": {"resample_graphs": "round", "observe": "graphs", "actions_per_round": 2},
    "subsets of a pool each round": {**POOL, "num_graphs": 2, "resample_graphs": "round", "observe": "graphs"},
    "ragged": {**POOL, "observe": "graphs"},
    "subsets of a pool": {**POOL, "num_graphs": 2, "resample_graphs": True},
    "sizes that vary": {"num_graphs": (2, 6), "num_nodes": (1, 5), "resample_graphs": "round", "observe": "graphs"},
    "sizes that vary, common noise": {"num_graphs": (2, 6), "resample_graphs": True, "common_noise": True},
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
    "means that walk, time limit": {"drift": "walk", "max_episode_steps": 2},
    "time limit": {"max_episode_steps": 2},
    "time limit of one round": {"max_episode_steps": 1, "horizon": 1},
}


def settings_of(variant):
    drawn = {} if "graphs" in VARIANTS[variant] else {"num_graphs": 4, "num_nodes": 5, "feature_dim": 3}
    return {"observe": "indices", "horizon": 3, "noise_std": 0.5, **drawn, **VARIANTS[variant]}


def native(mode="NextStep", num_envs=3, **settings):
    return gym.make_vec("GraphActionBandit-v0", num_envs=num_envs, autoreset_mode=mode, **settings)


def other(kind, mode, **settings):
    options = {"autoreset_mode": mode, **({"shared_memory": False} if kind == "async" else {})}
    return gym.make_vec("GraphActionBandit-v0", num_envs=3, vectorization_mode=kind, vector_kwargs=options, **settings)


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


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_trajectories_are_those_of_gymnasiums_sync_environment(variant, mode):
    settings = settings_of(variant)
    expected = trajectory(other("sync", mode, **settings), mode)
    assert trajectory(native(mode, **settings), mode) == expected


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("variant", ["graphs", "subsets used up", "new graphs"])
def test_trajectories_are_those_of_gymnasiums_async_environment(variant, mode):
    settings = settings_of(variant)
    expected = trajectory(other("async", mode, **settings), mode)
    assert trajectory(native(mode, **settings), mode) == expected


@pytest.mark.parametrize("variant", VARIANTS)
def test_observations_are_members_of_the_space(variant):
    envs = native(**settings_of(variant))
    observation, info = envs.reset(seed=0)
    assert observation in envs.observation_space
    actions = info["action_mask"].argmax(axis=1)
    assert actions in envs.action_space
    assert envs.step(actions)[0] in envs.observation_space


def test_a_seed_is_mixed_so_that_neighbouring_seeds_share_nothing():
    assert not set(spread_seeds(0, 50)) & set(spread_seeds(1, 50))
    assert spread_seeds(3, 50)[:5] == spread_seeds(3, 5)
    first, again = native(**settings_of("indices")), native(**settings_of("indices"))
    first.reset(seed=4)
    again.reset(seed=spread_seeds(4, 3))
    assert np.array_equal(first.mean_rewards, again.mean_rewards)


def test_a_bandit_keeps_its_trajectory_when_there_are_more_of_them():
    few, many = native(num_envs=2, **settings_of("subsets")), native(num_envs=5, **settings_of("subsets"))
    for envs in (few, many):
        envs.reset(seed=1)
    assert np.array_equal(few.mean_rewards, many.mean_rewards[:2])
    assert np.array_equal(few.action_masks(), many.action_masks()[:2])


def test_noise_that_is_drawn_ahead_goes_on_over_many_blocks_and_ends_with_its_instance():
    settings = settings_of("indices") | {"horizon": 700}
    envs, singles = native(**settings), [gym.make("GraphActionBandit-v0", **settings) for _ in SEEDS]
    for seeds in (SEEDS, [1, 2, 3]):
        envs.reset(seed=seeds)
        for env, seed in zip(singles, seeds, strict=True):
            env.reset(seed=seed)
        for _ in range(400):
            rewards = envs.step(np.zeros(3, int))[1]
        for env, reward in zip(singles, rewards, strict=True):
            assert [env.step(0)[1] for _ in range(400)][-1] == reward


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
    with pytest.raises(InvalidAction, match="Expected"):
        envs.step(np.array(actions))
    assert np.array_equal(envs.step(np.zeros(3, int))[1], twin.step(np.zeros(3, int))[1])


def test_a_masked_action_is_refused_by_its_bandit():
    envs = native(**settings_of("subsets"))
    _, info = envs.reset(seed=0)
    actions = info["action_mask"].argmax(axis=1)
    actions[1] = info["action_mask"][1].argmin()
    with pytest.raises(InvalidAction, match="for bandit 1, which `action_mask` rules out"):
        envs.step(actions)


def test_an_episode_that_is_over_needs_a_reset_where_nothing_begins_the_next():
    envs = native("Disabled", **settings_of("one round"))
    with pytest.raises(ResetNeeded, match="Expected `reset` first"):
        envs.step(np.zeros(3, int))
    envs.reset(seed=0)
    envs.step(np.zeros(3, int))
    with pytest.raises(ResetNeeded, match=r"bandits \[0, 1, 2\] are over"):
        envs.step(np.zeros(3, int))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": [1, 2]}, "Expected 3 seeds"),
        ({"seed": [1, -2, 3]}, "integers >= 0"),
        ({"seed": -1}, "integers >= 0"),
        ({"seed": 1.5}, "Expected an integer, a list"),
        ({"options": {"reset_mask": [True, False]}}, "`reset_mask` to be a bool array"),
        ({"options": {"reset_mask": np.zeros(3, bool)}}, "at least one True"),
        ({"options": {"resmple": True}}, "the option `resample` or none"),
    ],
)
def test_reset_refuses_what_it_does_not_know(options, message):
    with pytest.raises(ValueError, match=message):
        native(**settings_of("indices")).reset(**options)


def test_bandits_that_were_never_reset_cannot_be_left_out():
    with pytest.raises(ResetNeeded):
        native(**settings_of("indices")).reset(options={"reset_mask": np.array([True, False, False])})


@pytest.mark.parametrize("settings", [{"num_envs": 0}, {"render_mode": "rgb_array"}, {"autoreset_mode": "never"}])
def test_refuses_what_it_cannot_make(settings):
    with pytest.raises(ValueError, match=r"num_envs|render_mode|never"):
        GraphActionBanditVector(**settings)


def test_says_in_its_metadata_how_it_resets():
    assert native("SameStep").metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_a_reset_that_fails_is_tried_again_at_the_next_step():
    calls = []

    def reward(graph):
        calls.append(1)
        if len(calls) == 9:
            raise RuntimeError("a bad day")
        return 1.0

    envs = native(num_envs=1, **settings_of("indices") | {"resample_graphs": True, "reward_model": reward})
    envs.reset(seed=0)
    over = []
    for _ in range(12):
        try:
            *_, terminated, truncated, _ = envs.step(np.zeros(1, int))
            over.append(int((terminated | truncated)[0]))
        except RuntimeError:
            over.append(-1)
    assert over == [0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, 1]


@pytest.mark.parametrize("seeds", [[5, np.int64(6), 7], np.array([5, 6, 7]), (5, 6, 7)])
def test_seeds_may_be_numpys(seeds):
    envs, plainly = native(**settings_of("indices")), native(**settings_of("indices"))
    envs.reset(seed=seeds)
    plainly.reset(seed=[5, 6, 7])
    assert np.array_equal(envs.mean_rewards, plainly.mean_rewards)
    assert envs.np_random_seed == (5, 6, 7)
