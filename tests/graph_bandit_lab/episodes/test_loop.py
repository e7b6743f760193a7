import re
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


def test_the_callback_gets_what_the_result_has(small_env):
    records = []
    result = run_bandit(small_env(), Recorder(), seed=3, on_round=records.append)
    assert [record.round for record in records] == list(range(1, 31))
    assert [record.action for record in records] == result.actions.tolist()
    assert [record.reward for record in records] == result.rewards.tolist()
    np.testing.assert_allclose([record.cumulative_regret for record in records], result.cumulative_regret)


def test_without_replacement_the_episode_ends_with_the_last_graph(small_env):
    result = run_bandit(small_env(replacement=False), Recorder())
    assert sorted(result.actions) == list(range(6))
    assert result.status == "finished"


def test_equal_seeds_give_every_agent_the_same_instance_and_noise(small_env):
    first, second = small_env(), small_env()
    run_bandit(first, registry.make_agent("random"), seed=1)
    result, again = (run_bandit(second, Recorder(), seed=1) for _ in range(2))
    assert np.array_equal(first.unwrapped.mean_rewards, second.unwrapped.mean_rewards)
    assert np.array_equal(result.rewards, again.rewards)


def test_environment_and_agent_have_seeds_of_their_own(small_env):
    env, agent = small_env(), Recorder()
    run_bandit(env, agent, seed=1)
    _, agent_seed, _ = agent.shown[0]
    assert agent_seed != env.unwrapped.np_random_seed
    assert 1 not in (agent_seed, env.unwrapped.np_random_seed)


def test_the_agent_sees_observations_masks_and_rewards_only(small_env):
    env, agent = small_env(observe="indices", actions_per_round=2), Recorder()
    run_bandit(env, agent)
    (_, _, graph_set), *rounds = agent.shown
    assert graph_set is env.unwrapped.graph_set
    for shown in rounds:
        assert not any(isinstance(value, dict) for value in shown)
        assert shown[0].shape == (2,)


def test_the_update_sees_the_observation_that_was_played_on(small_env):
    agent = Recorder()
    run_bandit(small_env(observe="indices", actions_per_round=2), agent)
    _, *rounds = agent.shown
    for (seen, _), (updated, action, _) in zip(rounds[::2], rounds[1::2], strict=True):
        assert np.array_equal(seen, updated)
        assert action in updated


def test_a_diverged_fit_ends_the_repetition_and_is_marked(small_env):
    result = run_bandit(small_env(), Recorder(fail_at=4))
    assert result.status == "diverged"
    assert len(result.actions) == len(result.rewards) == len(result.regret) == 4


def test_an_agent_that_diverges_before_its_first_choice_has_no_rounds(small_env):
    agent = Recorder()
    agent.select_action = lambda *arguments: (_ for _ in ()).throw(FloatingPointError)
    result = run_bandit(small_env(), agent)
    assert result.status == "diverged"
    assert len(result.actions) == len(result.cumulative_regret) == 0


def test_the_time_is_that_of_the_rounds(small_env):
    assert 0 < run_bandit(small_env(), Recorder()).seconds < 10


def test_the_time_leaves_out_the_reset_the_diagnostics_the_recommendations_and_the_callback(small_env, monkeypatch):
    """By a clock that stands still but for what the agent does: a second a choice, more for all else."""
    clock, agent = [50.0], Recorder()

    def passing(seconds, call=lambda *given, **named: None):
        def slow(*given, **named):
            clock[0] += seconds
            return call(*given, **named)

        return slow

    belief = SimpleNamespace(mean=np.zeros(6), spread=np.ones(6), sampled=None, variance=np.ones(6))
    belief.log_determinant = belief.effective_dimension = 0.0
    agent.reset, agent.select_action = passing(1000.0, agent.reset), passing(1.0, agent.select_action)
    agent.insight = passing(100.0, lambda: belief)
    agent.predict_means = passing(10_000.0, lambda: np.zeros(6))
    on_round = passing(0.125)
    monkeypatch.setattr("graph_bandit_lab.episodes.loop.time", SimpleNamespace(perf_counter=lambda: clock[0]))
    result = run_bandit(small_env(), agent, diagnose=True, on_round=on_round)
    assert result.seconds == 30.0
    assert result.diagnostics["potential"].tolist() == [1.0] * 30


def test_other_errors_of_an_agent_are_not_hidden(small_env):
    agent = Recorder()
    agent.update = lambda *arguments: 1 / 0
    with pytest.raises(ZeroDivisionError):
        run_bandit(small_env(), agent)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("GraphActionBandit-v0", Recorder()),
            "to have `unwrapped`. Got 'GraphActionBandit-v0'. Make one",
        ),
        ((registry.make_environment(), "gnn-ts"), "Got 'gnn-ts'. Make one, as `registry.make_agent(\"gnn-ts\")`"),
        ((registry.make_environment(), Recorder), "Got the class Recorder: call it first, `Recorder(...)`"),
    ],
)
def test_what_is_no_environment_or_agent_is_refused_with_advice(arguments, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        run_bandit(*arguments)


def test_a_result_says_in_a_line_what_it_is(small_env):
    assert repr(run_bandit(small_env(), Recorder())).startswith("BanditResult(finished, 30 rounds, total regret ")


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
