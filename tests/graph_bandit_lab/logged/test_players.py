"""Agents whose plays have known probabilities, and the logs that they leave."""

import numpy as np
import pytest

import registry
from graph_bandit_env.files import digest
from graph_bandit_lab.episodes import Feedback, run_bandit
from graph_bandit_lab.logged import FixedPolicy, LoggingAgent, log_episode

HALF = [0.5, 0.3, 0.0, 0.1, 0.1, 0.0]


def test_a_fixed_policy_plays_as_often_as_it_says_and_learns_nothing(small_env):
    log = log_episode(small_env(horizon=4000), FixedPolicy(HALF), floor=0.0)
    shares = np.bincount(log.actions, minlength=6) / 4000
    assert shares == pytest.approx(HALF, abs=0.03)
    assert (log.probabilities == HALF).all()
    assert not log.learns


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


@pytest.mark.parametrize("values", [[0.5, 0.6], [1.5, -0.5], [[0.5, 0.5]], [np.nan, 1.0], []])
def test_what_is_no_policy_is_refused(values):
    with pytest.raises((ValueError, TypeError)):
        FixedPolicy(values)


def test_a_policy_of_another_number_of_graphs_is_refused(small_env):
    with pytest.raises(ValueError, match="Expected 2 graphs. Got 6"):
        log_episode(small_env(), FixedPolicy([0.5, 0.5]))


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


def test_an_agent_without_chance_is_random_as_often_as_the_floor_says(small_env):
    log = log_episode(small_env(horizon=3000), registry.make_agent("random"), floor=0.2, learns=False)
    assert log.probabilities == pytest.approx(np.full((3000, 6), 1 / 6))
    greedy = LoggingAgent(registry.make_agent("gntk-greedy"), floor=0.6)
    result = run_bandit(small_env(horizon=600, noise_std=0.0), greedy, seed=0)
    log = greedy.log(result)
    assert set(np.unique(log.probabilities[200:].round(9))) == {0.1, 0.5}
    best = log.probabilities[200:].argmax(1)
    assert (log.actions[200:] == best).mean() == pytest.approx(0.5, abs=0.08)


def test_where_probabilities_are_estimated_the_log_draws_from_the_estimate(small_env):
    env = small_env(num_graphs=3)
    observation, _ = env.reset(seed=0)
    logging, rows = LoggingAgent(registry.make_agent("gntk-ts", sampling="joint"), floor=0.0, draws=4), []
    for seed in range(600):  # the estimate differs from seed to seed
        logging.reset(observation, seed=seed, graph_set=env.unwrapped.graph_set)
        values = logging.action_probabilities(observation).values
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


def test_an_agent_goes_on_from_its_state(small_env):
    env = small_env()
    observation, _ = env.reset(seed=0)
    first, second = (LoggingAgent(registry.make_agent("gaussian-ts"), floor=0.5) for _ in range(2))
    for logging in (first, second):
        logging.reset(observation, seed=1, graph_set=env.unwrapped.graph_set)

    def go(logging, rounds):
        for _ in range(rounds):
            action = logging.select_action(observation)
            logging.update(observation, action, float(action))
            yield action

    list(go(first, 5))
    second.load_state_dict(first.state_dict())
    assert list(go(first, 10)) == list(go(second, 10))
    assert len(second.state_dict()["rows"]) == 15


def test_late_rewards_change_nothing_but_when_the_agent_learns(small_env):
    log = log_episode(small_env(), registry.make_agent("gaussian-ts"), feedback=Feedback(delay=30))
    assert (log.probabilities == log.probabilities[0]).all()


@pytest.mark.parametrize(
    ("changes", "feedback", "message"),
    [
        ({"replacement": False}, {}, "whose graphs can be played again"),
        ({"resample_graphs": "round"}, {}, "on one graph set"),
        ({}, {"batch": 2}, "one choice of the agent in each round"),
        ({}, {"random_rounds": 2}, "one choice of the agent in each round"),
    ],
)
def test_episodes_that_weights_cannot_judge_are_refused(changes, feedback, message, small_env):
    with pytest.raises(ValueError, match=message):
        log_episode(small_env(**changes), registry.make_agent("random"), feedback=Feedback(**feedback))


@pytest.mark.parametrize("floor", [-0.1, 1.1, float("nan")])
def test_a_floor_is_a_probability(floor):
    with pytest.raises(ValueError, match="Expected `floor` from 0 to 1"):
        LoggingAgent(registry.make_agent("random"), floor)


def test_an_agent_without_probabilities_is_refused():
    class Silent:
        settings = None

    with pytest.raises(TypeError, match="Expected an agent with `action_probabilities`"):
        LoggingAgent(Silent())


@pytest.mark.parametrize(("name", "learns"), [("random", False), ("gaussian-ts", True)])
def test_a_log_says_whether_its_agent_learns(name, learns, small_env):
    log = log_episode(small_env(), registry.make_agent(name))
    assert log.learns == learns
    assert (
        repr(log)
        == f"Log(30 rounds, 6 graphs, {'of an agent that learned' if learns else 'of a fixed policy'}, floor 0.1)"
    )
