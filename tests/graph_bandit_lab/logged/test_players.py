"""Agents whose plays have known probabilities, and the logs that they leave."""

import numpy as np
import pytest

import registry
from graph_bandit_env.files import digest
from graph_bandit_lab.episodes import Feedback, run_bandit
from graph_bandit_lab.logged import FixedPolicy, LoggingAgent, log_episode

HALF = [0.5, 0.3, 0.0, 0.1, 0.1, 0.0]


def test_probabilities_of_graphs_that_are_not_on_offer_go_to_the_others(small_env):
    env = small_env(horizon=300, actions_per_round=4)
    log = log_episode(env, FixedPolicy([1 / 6] * 6), floor=0.0)
    assert log.masks.sum(1).tolist() == [4] * 300
    assert log.probabilities[log.masks] == pytest.approx(np.full(1200, 0.25))
    policy = FixedPolicy(HALF)
    policy.reset(None, graph_set=env.unwrapped.graph_set)
    assert policy.action_probabilities(None, [1, 0, 1, 1, 0, 0]).values == pytest.approx([5 / 6, 0, 0, 1 / 6, 0, 0])
    with pytest.raises(ValueError, match="offers a graph of positive probability"):
        policy.select_action(None, [0, 0, 1, 0, 0, 0])


def test_without_a_floor_an_agent_plays_as_it_does_without_a_log(small_env):
    for name in ("gaussian-ts", "gntk-pe", "ucb1"):
        plain = run_bandit(small_env(), registry.make_agent(name), seed=2)
        log = log_episode(small_env(), registry.make_agent(name), seed=2, floor=0.0)
        assert log.actions.tolist() == plain.actions.tolist()
        assert log.rewards.tolist() == plain.rewards.tolist()
        assert log.learns


def test_a_floor_is_a_mixture_with_random_play(small_env):
    env, floor = small_env(horizon=40), 0.3
    agent = registry.make_agent("gaussian-ts")
    log = log_episode(env, agent, seed=2, floor=floor)
    twin, observation = registry.make_agent("gaussian-ts"), None
    twin.reset(observation, graph_set=env.unwrapped.graph_set)
    for t in range(40):
        expected = 0.7 * twin.action_probabilities(None).values + 0.3 / 6
        assert log.probabilities[t] == pytest.approx(expected)
        twin.update(None, log.actions[t], log.rewards[t])
    assert log.least == pytest.approx(0.05)


def test_where_probabilities_are_estimated_the_log_draws_from_the_estimate(small_env):
    env = small_env(num_graphs=3)
    observation, _ = env.reset(seed=0)
    logging, rows = LoggingAgent(registry.make_agent("gntk-ts", sampling="joint"), floor=0.0, draws=4), []
    for seed in range(300):  # the estimate differs from seed to seed
        logging.reset(observation, seed=seed, graph_set=env.unwrapped.graph_set)
        values = logging.agent.action_probabilities(observation, None, 4).values
        played = np.eye(3)[logging.select_action(observation)]
        rows.append([values, (played - values) * values])  # of plays that the estimate did not draw: -variance
    values, deviations = np.array(rows).swapaxes(0, 1)
    assert set((4 * values).ravel()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert (np.abs(deviations.mean(0)) < values.var(0) / 2).all()


def test_an_agent_that_is_told_nothing_keeps_its_policy(small_env):
    log = log_episode(small_env(), registry.make_agent("gaussian-ts"), learns=False)
    assert (log.probabilities == log.probabilities[0]).all()
    assert not log.learns


def test_a_log_says_what_it_is_of(small_env):
    env = small_env()
    log = log_episode(env, registry.make_agent("gaussian-ts", exploration_scale=0.5), seed=7, floor=0.25)
    assert log.graphs == digest(env.unwrapped.graph_set)
    assert log.facts["agent_settings"] == {"exploration_scale": 0.5}
    assert (log.facts["seed"], log.facts["floor"]) == (7, 0.25)
    assert log.facts["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize(
    ("changes", "feedback", "message"),
    [
        ({"replacement": False}, {}, "graph"),
        ({"resample_graphs": "round"}, {}, "graph"),
        ({}, {"batch": 2}, "batch"),
        ({}, {"random_rounds": 2}, "random"),
    ],
)
def test_episodes_that_weights_cannot_judge_are_refused(changes, feedback, message, small_env):
    with pytest.raises(ValueError, match=message):
        log_episode(small_env(**changes), registry.make_agent("random"), feedback=Feedback(**feedback))
