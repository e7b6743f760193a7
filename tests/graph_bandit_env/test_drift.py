"""Bandits whose mean rewards walk or jump."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils import seeding
from gymnasium.utils.env_checker import check_env
from support.graphs import ragged_graphs

from graph_bandit_env.graphs.random_graphs import RandomGraphs
from graph_bandit_env.rewards.reward_models import RANDOM_REWARDS, draw_mean_rewards

SMALL = {"num_graphs": 4, "num_nodes": 5, "feature_dim": 3, "horizon": 6}
DRIFTS = ["walk", "jump"]


def make(**settings):
    fast = {"drift_rate": 0.5} if settings.get("drift", "walk") else {}
    return gym.make("GraphActionBandit-v0", **{**SMALL, "drift": "walk", **fast, **settings}).unwrapped


def play(env, actions, seed=None):
    """Means, reward and info of some rounds."""
    env.reset(seed=seed)
    for action in actions:
        means = env.mean_rewards
        _, reward, *_, info = env.step(action)
        yield means, reward, info


@pytest.mark.parametrize("reward_model", RANDOM_REWARDS)
@pytest.mark.parametrize("drift", DRIFTS)
def test_passes_gymnasiums_own_check_without_a_warning(drift, reward_model):
    assert check_env(make(drift=drift, reward_model=reward_model), skip_render_check=True) is None


@pytest.mark.parametrize("drift", DRIFTS)
def test_regret_is_to_the_best_graph_of_the_round(drift):
    best = set()
    for means, reward, info in play(make(drift=drift, noise_std=0.0, horizon=40), [1] * 40, seed=2):
        assert reward == info["mean_reward"] == means[1]
        assert info["optimal_mean_reward"] == means.max()
        assert info["optimal_action"] == means.argmax()
        assert info["regret"] == means.max() - means[1]
        best.add(info["optimal_action"])
    assert len(best) > 1


@pytest.mark.parametrize("settings", [{}, {"actions_per_round": 4, "common_noise": True}, {"replacement": False}])
@pytest.mark.parametrize("drift", DRIFTS)
def test_what_is_played_does_not_change_the_drift(drift, settings):
    one, other = (
        np.array([means for means, *_ in play(make(drift=drift, **settings), actions, seed=3)])
        for actions in ([0, 1, 2, 3], [3, 2, 0, 1])
    )
    assert np.array_equal(one, other)
    assert not np.array_equal(one[0], one[-1])


@pytest.mark.parametrize("reward_model", RANDOM_REWARDS)
@pytest.mark.parametrize("scale", ["raw", "unit"])
def test_a_drift_starts_from_the_bandit_that_stays(reward_model, scale):
    """Graphs, means of the first round, noise and subsets are the same, to the last bit."""
    settings = {"reward_model": reward_model, "reward_scale": scale, "actions_per_round": 2}
    drifting, static = make(**settings), make(drift=None, **settings)
    (shown, info), (same, same_info) = drifting.reset(seed=1), static.reset(seed=1)
    assert all(np.array_equal(a.nodes, b.nodes) for a, b in zip(shown, same, strict=True))
    assert np.array_equal(drifting.mean_rewards, static.mean_rewards)
    for _ in range(5):
        assert np.array_equal(info["action_mask"], same_info["action_mask"])
        action = int(info["action_mask"].argmax())
        _, reward, *_, info = drifting.step(action)
        _, other, *_, same_info = static.step(action)
        assert reward - info["mean_reward"] == pytest.approx(other - same_info["mean_reward"], abs=1e-9)


def test_without_drift_instances_have_the_four_streams_that_they_had():
    env, (generator, _) = make(drift=None), seeding.np_random(5)
    env.reset(seed=5)
    for _ in range(3):
        graphs_rng, reward_rng, _, noise_rng = generator.spawn(4)
        graph_set = RandomGraphs(num_graphs=4, num_nodes=5, feature_dim=3).draw(graphs_rng)
        means = draw_mean_rewards("linear", graph_set, reward_rng)
        assert np.array_equal(env.mean_rewards, means)
        for noise in noise_rng.standard_normal(4):
            assert env.step(2)[1] == means[2] + 0.01 * noise
            assert np.array_equal(env.mean_rewards, means)
        env.reset(options={"resample": True})


@pytest.mark.parametrize("drift", DRIFTS)
def test_the_next_episode_goes_on_where_the_last_one_ended(drift):
    long, short = make(drift=drift, horizon=6), make(drift=drift, horizon=2)
    whole = [means for means, *_ in play(long, [0] * 6, seed=4)]
    parts = [means for seed in (4, None, None) for means, *_ in play(short, [0] * 2, seed=seed)]
    assert np.array_equal(whole, parts)


def test_a_new_instance_has_a_drift_of_its_own():
    env = make()
    first = [means for means, *_ in play(env, [0, 0], seed=4)]
    env.reset(options={"resample": True})
    assert not np.isclose(env.mean_rewards, first).any()
    assert np.array_equal([means for means, *_ in play(env, [0, 0], seed=4)], first)


@pytest.mark.parametrize("drift", DRIFTS)
def test_linear_means_stay_linear(drift):
    """Means of ten graphs with three features, over many rounds, have rank 3."""
    means = [means for means, *_ in play(make(drift=drift, num_graphs=10, horizon=30), [0] * 30, seed=0)]
    assert np.linalg.matrix_rank(np.array(means), tol=1e-6) == 3


@pytest.mark.parametrize("drift", DRIFTS)
def test_means_of_many_instances_forget_at_the_rate(drift):
    """On fixed graphs, E mu_0 mu_d^T = (1 - rate)^d H H^T, H the means of nodes."""
    env = make(drift=drift, drift_rate=0.3, num_graphs=3, noise_std=0.0)
    graphs = env.reset(seed=0) and env.graph_set
    pool = gym.make(
        "GraphActionBandit-v0", graphs=graphs, reward_model="linear", drift=drift, drift_rate=0.3, horizon=9
    ).unwrapped
    means = np.array([[means for means, *_ in play(pool, [0] * 4, seed=seed)] for seed in range(1500)])
    expected = np.einsum("nj,nk->jk", means[:, 0], means[:, 0]) / len(means)
    for d in range(4):
        lagged = np.einsum("nj,nk->jk", means[:, 0], means[:, d]) / len(means)
        np.testing.assert_allclose(lagged, 0.7**d * expected, atol=0.12 * expected.max())
        present = np.einsum("nj,nk->jk", means[:, d], means[:, d]) / len(means)
        np.testing.assert_allclose(present, expected, atol=0.12 * expected.max())


def test_in_units_the_set_has_mean_0_in_every_round():
    means = np.array([means for means, *_ in play(make(reward_scale="unit", horizon=20), [0] * 20, seed=0)])
    np.testing.assert_allclose(means.mean(axis=1), 0, atol=1e-12)
    assert means[0].std() == pytest.approx(1)
    assert len(set(means.std(axis=1).round(6))) == 20  # the unit is that of the first round


@pytest.mark.parametrize("reward_model", RANDOM_REWARDS)
@pytest.mark.parametrize("drift", DRIFTS)
def test_graphs_of_ones_own_may_have_means_that_drift(drift, reward_model):
    env = gym.make(
        "GraphActionBandit-v0", graphs=ragged_graphs(), reward_model=reward_model, drift=drift, drift_rate=1.0
    ).unwrapped
    means = np.array([means for means, *_ in play(env, [0, 1, 2], seed=0)])
    assert len(np.unique(means[:, 0])) == 3


@pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("drift", DRIFTS)
def test_a_copy_goes_on_as_the_original(drift, copy_of):
    env = make(drift=drift, reward_model="gp_gntk")
    env.reset(seed=0)
    env.step(1)
    twin = copy_of(env)
    for _ in range(4):
        assert env.step(2)[1] == twin.step(2)[1]
        assert np.array_equal(env.mean_rewards, twin.mean_rewards)


def test_an_environment_that_is_made_from_its_spec_drifts_as_well():
    env = gym.make("GraphActionBandit-v0", **SMALL, drift="jump", drift_rate=0.5)
    again = gym.make(env.spec)
    one, other = ([means for means, *_ in play(each.unwrapped, [0] * 6, seed=1)] for each in (env, again))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("drift", DRIFTS)
def test_a_frame_shows_the_means_of_the_round_just_played_and_all_counts(drift):
    env = make(drift=drift, drift_rate=1.0, render_mode="rgb_array")
    env.reset(seed=1)
    for _ in range(3):
        means = env.mean_rewards
        _, reward, *_, info = env.step(2)
        episode = env._renderer._after_begin()
        assert np.array_equal(episode.mean_rewards, means)
        assert (episode.reward, episode.mean_rewards[2]) == (reward, info["mean_reward"])
    assert episode.counts.tolist() == [0, 0, 3, 0]
    assert env.render().shape == (540, 960, 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"drift": "walks"}, "Unknown drift `walks`. Did you mean `walk`"),
        ({"drift": True}, "Unknown drift `True`"),
        ({"drift_rate": 0.0}, "`drift_rate` to be larger than 0. Got 0. Leave `drift` out"),
        ({"drift_rate": -0.1}, "`drift_rate` to be a finite number >= 0.0 and <= 1.0. Got -0.1"),
        ({"drift_rate": 1.1}, "`drift_rate` to be a finite number .* Got 1.1"),
        ({"drift_rate": float("nan")}, "`drift_rate` to be a finite number .* Got nan"),
        ({"drift": None, "drift_rate": 0.2}, "with `drift_rate`. Got a rate of 0.2, and nothing that drifts"),
        ({"reward_model": np.zeros(4)}, "name of a random reward function .* Got ndarray"),
        ({"reward_model": lambda graph: 0.0}, "name of a random reward function .* Got function"),
        ({"resample_graphs": True}, "`drift` or `resample_graphs`.* Got both"),
        ({"resample_graphs": "round"}, "`drift` or `resample_graphs`.* Got both"),
        ({"reward_seed": 3}, "`drift` or `reward_seed`.* Got both"),
    ],
)
def test_refuses_what_cannot_drift(settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings)
