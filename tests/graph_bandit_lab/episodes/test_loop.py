"""An episode, its record, and its files."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

import registry
from graph_bandit_lab import run_bandit
from graph_bandit_lab.episodes import episode_seeds


class Recorder:
    """An agent that plays in turn and keeps all that it is shown."""

    def __init__(self, fail_at=None):
        self.shown, self.rounds, self.fail_at = [], 0, fail_at

    def reset(self, observation, seed=0, graph_set=None):
        self.shown.append((observation, seed, graph_set))

    def select_action(self, observation, action_mask=None):
        self.shown.append((observation, action_mask))
        self.allowed = np.flatnonzero(action_mask)
        return int(self.allowed[self.rounds % len(self.allowed)])

    def update(self, observation, action, reward):
        self.shown.append((observation, action, reward))
        self.rounds += 1
        if self.rounds == self.fail_at:
            raise FloatingPointError


def test_records_actions_rewards_and_regret_of_every_round(small_env):
    env = small_env(noise_std=0.0)
    result = run_bandit(env, Recorder(), seed=3)
    means = env.unwrapped.mean_rewards
    assert result.actions.tolist() == [t % 6 for t in range(30)]
    np.testing.assert_allclose(result.rewards, means[result.actions])
    np.testing.assert_allclose(result.regret, means.max() - means[result.actions])
    np.testing.assert_allclose(result.cumulative_regret[-1], result.regret.sum())
    assert result.status == "finished"


def test_the_agent_sees_observations_masks_and_rewards_only(small_env):
    env, agent = small_env(observe="indices", actions_per_round=2), Recorder()
    run_bandit(env, agent)
    (_, _, graph_set), *rounds = agent.shown
    assert graph_set is env.unwrapped.graph_set
    for shown in rounds:
        assert not any(isinstance(value, dict) for value in shown)
        assert shown[0].shape == (2,)


def test_the_time_leaves_out_the_reset_the_diagnostics_the_recommendations_and_the_callback(small_env, monkeypatch):
    """By a clock that stands still but for what the agent does: a second a choice, more for all else."""
    clock, agent = [50.0], Recorder()

    def passing(seconds, call=lambda *given, **named: None):
        def slow(*given, **named):
            clock[0] += seconds
            return call(*given, **named)

        return slow

    belief = SimpleNamespace(mean=np.zeros(6), spread=np.ones(6), sampled=None, variance=np.ones(6))
    belief.log_determinant = belief.effective_dimension = belief.misfit = 0.0
    agent.reset, agent.select_action = passing(1000.0, agent.reset), passing(1.0, agent.select_action)
    agent.insight = passing(100.0, lambda: belief)
    agent.predict_means = passing(10_000.0, lambda: np.zeros(6))
    on_round = passing(0.125)
    monkeypatch.setattr("graph_bandit_lab.episodes.loop.time", SimpleNamespace(perf_counter=lambda: clock[0]))
    result = run_bandit(small_env(), agent, diagnose=True, on_round=on_round)
    assert result.seconds == 30.0
    assert result.diagnostics["potential"].tolist() == [1.0] * 30


def test_a_loop_by_hand_plays_the_same_episode(small_env):
    env, agent, rewards = small_env(), registry.make_agent("lin-ts"), []
    env_seed, agent_seed = episode_seeds(3)
    observation, info = env.reset(seed=env_seed)
    agent.reset(observation, seed=agent_seed)
    over = False
    while not over:
        action = agent.select_action(observation, info["action_mask"])
        played = observation
        observation, reward, terminated, truncated, info = env.step(action)
        agent.update(played, action, reward)
        rewards.append(reward)
        over = terminated or truncated
    assert run_bandit(env, registry.make_agent("lin-ts"), seed=3).rewards.tolist() == rewards


class Diverging:
    """An agent that plays graph 2, and raises as a diverged fit does: in a choice, or in an update."""

    def __init__(self, choices, updates):
        self.choices, self.updates = choices, updates

    def reset(self, observation, seed=0, graph_set=None):
        pass

    def select_action(self, observation, action_mask=None):
        self.choices -= 1
        if self.choices < 0:
            raise FloatingPointError
        return 2

    def update(self, observation, action, reward):
        self.updates -= 1
        if self.updates < 0:
            raise FloatingPointError


def play(env, agent=None, seed=5, **settings):
    records = []
    return run_bandit(env, agent or registry.make_agent("random"), seed, on_round=records.append, **settings), records


def test_records_add_up_to_the_result(small_env):
    env = small_env()
    result, records = play(env)
    rows = [dataclasses.asdict(record) for record in records]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    assert columns["round"] == list(range(1, 31))
    assert columns["seed"] == [5] * 30
    assert columns["action"] == result.actions.tolist()
    assert columns["reward"] == result.rewards.tolist()
    assert columns["regret"] == result.regret.tolist()
    assert columns["mean_reward"] == env.unwrapped.mean_rewards[result.actions].tolist()
    assert columns["best_found"] == result.best_found.tolist()
    np.testing.assert_allclose(columns["cumulative_regret"], result.cumulative_regret, rtol=1e-12)


@pytest.mark.parametrize(("choices", "updates"), [(3, 9), (9, 2)])  # before the fourth round, and after the third
def test_a_diverged_agent_leaves_a_record_of_each_round_that_was_played(small_env, choices, updates):
    result, records = play(small_env(), Diverging(choices, updates))
    assert result.status == "diverged"
    assert len(records) == len(result.actions) == 3
