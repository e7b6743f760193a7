"""Logs with the probabilities of their plays, and what they tell of other policies."""

import itertools
import math
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import stats

import registry
from graph_bandit_env import GraphSet
from graph_bandit_env.files import digest
from graph_bandit_lab.logged import FixedPolicy, Log, LoggingAgent, evaluate, log_episode, replay, target_probabilities

TWO = GraphSet([[[1.0]], [[2.0]]], [[], []])
SMALL = Log(
    actions=np.array([0, 1, 1]),
    rewards=np.array([0.5, -1.0, 2.0]),
    probabilities=np.array([[0.25, 0.75], [0.5, 0.5], [0.0, 1.0]]),
    masks=np.array([[True, True], [True, True], [False, True]]),
    learns=True,
    least=0.25,
    graphs=digest(TWO),
    facts={"agent": "A", "seed": 3},
)


def test_a_file_brings_back_everything(tmp_path):
    SMALL.save(tmp_path / "log.npz")
    loaded = Log.load(tmp_path / "log.npz")
    for field in fields(Log):
        expected, got = getattr(SMALL, field.name), getattr(loaded, field.name)
        assert type(expected) is type(got)
        assert np.array_equal(expected, got) if isinstance(got, np.ndarray) else expected == got


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"masks": np.ones((3, 3), bool)}, "shapes"),
        ({"rewards": np.array([0.5, np.nan, 2.0])}, "finite"),
        ({"actions": np.array([0.0, 1.0, 1.0])}, "`actions`"),
        ({"probabilities": np.full((3, 2), np.nan)}, "probabilities"),
        ({"probabilities": np.array([[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]])}, "probabilities"),
        ({"actions": np.array([0, 1, 0])}, "plays"),
        ({"least": 0.3}, "`least`"),
    ],
)
def test_what_is_no_log_is_refused(changes, named):
    with pytest.raises(ValueError, match=named):
        replace(SMALL, **changes)


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
    for seed in range(150):  # the estimate differs from seed to seed
        logging.reset(observation, seed=seed, graph_set=env.unwrapped.graph_set)
        values = logging.agent.action_probabilities(observation, None, 4).values
        played = np.eye(3)[logging.select_action(observation)]
        rows.append([values, (played - values) * values])  # of plays that the estimate did not draw: -variance
    values, deviations = np.array(rows).swapaxes(0, 1)
    assert set((4 * values).ravel()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert (np.abs(deviations.mean(0)) < values.var(0) / 2).all()


SIX = np.array([0.1, 0.2, 0.0, 0.3, 0.4, 0.0])


@pytest.fixture
def log(small_env):
    return log_episode(small_env(actions_per_round=4), registry.make_agent("random"), learns=False)


def test_a_policy_is_divided_by_its_sum_over_the_graphs_on_offer(log):
    target = target_probabilities(SIX, log)
    for row, mask in zip(target, log.masks, strict=True):
        assert row == pytest.approx(np.where(mask, SIX, 0) / SIX[mask].sum())
    assert target_probabilities(target, log) == pytest.approx(target)


def test_what_plays_what_the_log_never_could_is_refused(small_env):
    env = small_env()
    log, random = log_episode(env, registry.make_agent("gntk-ucb"), floor=0.0), registry.make_agent("random")
    played = np.zeros((30, 6))
    played[np.arange(30), log.actions] = 1
    for method in ("ips", "weighted"):
        with pytest.raises(ValueError, match="floor"):
            evaluate(log, np.full(6, 1 / 6), method)
        assert evaluate(log, played, method).value == pytest.approx(log.rewards.mean())
    for each in (log, replace(log, learns=False)):
        with pytest.raises(ValueError, match="floor"):
            replay(random, each, env.unwrapped.graph_set)


MEANS, POLICY = np.array([1.0, -2.0, 4.0]), np.array([0.2, 0.5, 0.3])


def make_log(actions, rewards, probabilities, learns):
    probabilities = np.array(probabilities)
    return Log(
        actions=np.array(actions),
        rewards=np.array(rewards, float),
        probabilities=probabilities,
        masks=np.ones(probabilities.shape, bool),
        learns=learns,
    )


def logs_of_a_learner():
    """All logs of three rounds of a policy that plays more often what paid, with their probabilities."""
    for actions in itertools.product(range(3), repeat=3):
        rows, chance, rewards = [], 1.0, []
        for t, action in enumerate(actions):
            favourite = actions[int(np.argmax(rewards))] if rewards else 0
            row = np.full(3, 0.2)
            row[favourite] += 0.4
            chance *= row[action]
            rows.append(row)
            rewards.append(MEANS[action] + 0.1 * t)
        yield chance, make_log(actions, rewards, rows, learns=True)


@pytest.mark.parametrize("method", ["ips", "dr"])
def test_the_mean_over_all_logs_is_the_truth_also_of_an_agent_that_learns(method):
    expected = POLICY @ MEANS + 0.1  # the mean of 0, 0.1 and 0.2 is added
    chances, values = zip(
        *((chance, evaluate(log, POLICY, method, folds=3).value) for chance, log in logs_of_a_learner()), strict=True
    )
    assert sum(chances) == pytest.approx(1)
    assert np.dot(chances, values) == pytest.approx(expected, abs=1e-12)


def by_hand(log, policy, predicted):
    """The four estimates, their standard errors and degrees of freedom, one round at a time."""
    terms, weights, scores, steadying = [], [], [], []
    for t in range(log.num_rounds):
        action, reward = log.actions[t], log.rewards[t]
        weight = policy[action] / log.probabilities[t, action]
        terms.append(weight * reward)
        weights.append(weight)
        scores.append(sum(policy * predicted[t]) + weight * (reward - predicted[t][action]))
        steadying.append(1 / math.sqrt(sum(policy**2 / log.probabilities[t])))
    count = log.num_rounds

    def mean(values):
        value = sum(values) / count
        return value, math.sqrt(sum((x - value) ** 2 for x in values) / (count - 1) / count)

    def ratio(by, values):
        value, pairs = sum(w * x for w, x in zip(by, values, strict=True)) / sum(by), zip(by, values, strict=True)
        rounds = sum(by) ** 2 / sum(w**2 for w in by)
        return value, math.sqrt(sum((w * (x - value)) ** 2 for w, x in pairs) * rounds / (rounds - 1)) / sum(by)

    def freedom(by):
        return sum(w**2 for w in by) ** 2 / sum(w**4 for w in by) - 1

    steady_weights = [h * w for h, w in zip(steadying, weights, strict=True)]
    return {
        "ips": (*mean(terms), freedom(weights)),
        "snips": (*ratio(weights, log.rewards), freedom(weights)),
        "dr": (*mean(scores), freedom(weights)),
        "weighted": (*ratio(steadying, scores), freedom(steady_weights)),
    }


def a_learners_log(count=40):
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet([2, 2, 2], count)
    actions = [int(rng.choice(3, p=row)) for row in probabilities]
    return make_log(actions, MEANS[actions] + rng.normal(size=count), probabilities, learns=True)


def test_estimates_of_a_learners_log_are_those_by_hand_with_predictions_from_earlier_rounds():
    log = a_learners_log()
    predicted = []
    for t in range(log.num_rounds):
        before = log.rewards[:t]
        own = [before[log.actions[:t] == k] for k in range(3)]
        predicted.append([x.mean() if len(x) else before.mean() if t else 0.0 for x in own])
    for method, (value, error, freedom) in by_hand(log, POLICY, np.array(predicted)).items():
        estimate = evaluate(log, POLICY, method)
        assert (estimate.value, estimate.std_error) == pytest.approx((value, error))
        half = stats.t.ppf(0.975, freedom) * error
        assert (estimate.low, estimate.high) == pytest.approx((value - half, value + half))


SKEWED = [0.4, 0.1, 0.2, 0.1, 0.1, 0.1]


class InTurn:
    """An agent that plays in turn and keeps what it is told."""

    def reset(self, observation, seed=0, graph_set=None):
        self.told, self.asked = [], 0

    def select_action(self, observation, action_mask=None):
        self.asked += 1
        return len(self.told) % len(action_mask)

    def update(self, observation, action, reward):
        self.told.append((action, reward))


def test_what_is_accepted_is_told_in_its_order_and_nothing_else(small_env):
    env, agent = small_env(horizon=600), InTurn()
    log = log_episode(env, FixedPolicy(SKEWED), floor=0.0)
    replayed = replay(agent, log, env.unwrapped.graph_set)
    assert replayed.actions.tolist() == [k % 6 for k in range(len(replayed.actions))]
    assert (np.diff(replayed.rounds) > 0).all()
    assert agent.told == list(zip(replayed.actions.tolist(), log.rewards[replayed.rounds].tolist(), strict=True))
    assert agent.asked == len(agent.told) + 1  # a choice waits for its round
    assert replayed.value == pytest.approx(np.mean([reward for _, reward in agent.told]))


def test_its_interval_is_that_of_the_noise(small_env):
    env = small_env(horizon=1500, noise_std=0.5)
    log = log_episode(env, registry.make_agent("random"), learns=False)
    result = replay(InTurn(), log, env.unwrapped.graph_set)
    assert result.std_error == pytest.approx(0.5 / np.sqrt(len(result.rounds)), rel=0.1)
    low, high = result.interval()
    assert (high - low) / 2 == pytest.approx(1.96 * result.std_error, rel=1e-3)
    assert low < env.unwrapped.mean_rewards[result.actions].mean() < high
