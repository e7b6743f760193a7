"""Mean rewards that walk or jump: by themselves, and in an environment."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils import seeding

from graph_bandit_env.bandit.instance import Drift
from graph_bandit_env.graphs.random_graphs import RandomGraphs
from graph_bandit_env.rewards.reward_models import draw_mean_rewards

ROOT = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0]])


def fresh(rng):
    return ROOT @ rng.standard_normal(2)


def trajectories(name, rate, rounds, count=3000):
    """Means `(count, rounds, K)` of many drifts that start from a fresh draw."""
    rng = np.random.default_rng(0)
    drift = Drift(name, fresh, rate, rng)
    means = np.empty((count, rounds, 3))
    for row in means:
        row[0] = fresh(rng)
        for t in range(1, rounds):
            row[t] = drift(row[t - 1])
    return means


@pytest.mark.parametrize("name", ["walk", "jump"])
def test_means_keep_their_distribution_and_forget_at_the_rate(name):
    """E mu_t = 0 and E mu_0 mu_d^T = (1 - rate)^d A A^T for every d, those of the last round as those of the first."""
    means = trajectories(name, 0.3, 6)
    np.testing.assert_allclose(means.mean(axis=0), 0, atol=0.12)
    for d in range(6):
        lagged = np.einsum("nj,nk->jk", means[:, 0], means[:, d]) / len(means)
        np.testing.assert_allclose(lagged, 0.7**d * ROOT @ ROOT.T, atol=0.25)
    last = np.einsum("nj,nk->jk", means[:, -1], means[:, -1]) / len(means)
    np.testing.assert_allclose(last, ROOT @ ROOT.T, atol=0.25)


def test_a_walk_moves_all_means_in_each_round_by_a_small_step():
    steps = np.diff(trajectories("walk", 0.01, 50, count=20), axis=1)
    assert (steps != 0).all()
    expected = np.sqrt(2 * 0.01 * np.diag(ROOT @ ROOT.T))  # E (mu_{t+1} - mu_t)^2 = 2 (1 - a) var
    np.testing.assert_allclose(steps.std(axis=(0, 1)), expected, rtol=0.1)


def test_a_jump_replaces_all_means_or_none_after_a_geometric_time():
    means = trajectories("jump", 0.2, 40, count=400)
    changed = means[:, 1:] != means[:, :-1]
    assert (changed.all(axis=2) == changed.any(axis=2)).all()
    jumps = changed.any(axis=2)
    assert jumps.mean() == pytest.approx(0.2, abs=0.01)
    assert (jumps[:, 1:] & jumps[:, :-1]).mean() == pytest.approx(0.04, abs=0.006)  # one jump says nothing of the next


def test_a_slow_walk_loses_no_digits():
    """With a rate of 1e-12, 1 - a^2 from a would be wrong in the fourth digit."""
    drift = Drift("walk", lambda rng: np.ones(1), 1e-12, np.random.default_rng(0))
    assert drift(np.zeros(1))[0] == pytest.approx(np.sqrt(2e-12), rel=1e-11)


SMALL = {"num_graphs": 4, "num_nodes": 5, "feature_dim": 3, "horizon": 6}


def make(**settings):
    return gym.make("GraphActionBandit-v0", **{**SMALL, **settings}).unwrapped


@pytest.mark.parametrize(
    ("reward_model", "scale"), [("linear", "raw"), ("gp_gntk", "unit"), ("gp_representation_relu", "raw")]
)
def test_a_drift_starts_from_the_bandit_that_stays(reward_model, scale):
    """Graphs, means of the first round, noise and subsets are the same, to the last bit."""
    settings = {"reward_model": reward_model, "reward_scale": scale, "actions_per_round": 2}
    drifting, static = make(drift="walk", **settings), make(**settings)
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
    env, (generator, _) = make(), seeding.np_random(5)
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


@pytest.mark.parametrize("drift", ["walk", "jump"])
def test_the_next_episode_goes_on_where_the_last_one_ended(drift):
    played = []
    for horizon in (6, 2):
        env = make(drift=drift, drift_rate=0.5, horizon=horizon)
        for t in range(6):
            if t % horizon == 0:
                env.reset(seed=None if t else 4)
            played.append(env.mean_rewards.tolist())
            env.step(0)
    assert played[:6] == played[6:]
    assert played[0] != played[5]
