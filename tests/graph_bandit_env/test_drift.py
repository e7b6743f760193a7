"""Bandits whose mean rewards walk or jump."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils import seeding

from graph_bandit_env.graphs.random_graphs import RandomGraphs
from graph_bandit_env.rewards.reward_models import draw_mean_rewards

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


@pytest.mark.parametrize("settings", [{}, {"replacement": False}])
@pytest.mark.parametrize("drift", DRIFTS)
def test_what_is_played_does_not_change_the_drift(drift, settings):
    one, other = (
        np.array([means for means, *_ in play(make(drift=drift, **settings), actions, seed=3)])
        for actions in ([0, 1, 2, 3], [3, 2, 0, 1])
    )
    assert np.array_equal(one, other)
    assert not np.array_equal(one[0], one[-1])


@pytest.mark.parametrize(
    ("reward_model", "scale"), [("linear", "raw"), ("gp_gntk", "unit"), ("gp_representation_relu", "raw")]
)
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
