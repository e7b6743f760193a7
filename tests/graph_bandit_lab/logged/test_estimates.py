"""Estimators of logged data: by hand, by their expectation over all logs that there can be, and by their intervals."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from graph_bandit_env import GraphSet
from graph_bandit_lab.logged import METHODS, Log, evaluate

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


class Told:
    """An agent that predicts 7 for all graphs, and keeps what it was told."""

    settings = None

    def __init__(self):
        self.told = []

    def reset(self, observation, seed=0, graph_set=None):
        self.told.append([])

    def update(self, observation, action, reward):
        self.told[-1] = reward.tolist()

    def predict_means(self):
        return np.full(3, 7.0)


@pytest.mark.parametrize("learns", [True, False])
def test_an_agent_predicts_from_other_folds_or_from_earlier_rounds(learns):
    log, agent = replace(a_learners_log(), learns=learns), Told()
    graphs = GraphSet([[[1.0]], [[2.0]], [[3.0]]], [[], [], []])
    estimate = evaluate(log, POLICY, "dr", agent=agent, graph_set=graphs, folds=4)
    sizes = [len(told) for told in agent.told]
    assert sizes == ([0, 10, 20, 30] if learns else [30] * 4)
    if learns:
        assert agent.told[2] == log.rewards[:20].tolist()
    value, *_ = by_hand(log, POLICY, np.full((40, 3), 7.0))["dr"]
    assert estimate.value == pytest.approx(value)
    with pytest.raises(ValueError, match="Expected `graph_set`"):
        evaluate(log, POLICY, "dr", agent=agent)


def test_only_the_weighted_estimate_has_intervals_for_an_agent_that_learned():
    learner = a_learners_log()
    for method in METHODS:
        of_learner, of_fixed = (evaluate(replace(learner, learns=learns), POLICY, method) for learns in (True, False))
        assert of_learner.is_valid == (method == "weighted")
        assert of_fixed.is_valid
        assert ("not a valid interval" in str(of_learner)) == (method != "weighted")
        assert "not a valid" not in str(of_fixed)


def test_weights_tell_how_many_rounds_are_of_use():
    log = make_log([0, 1, 1, 1], [1, 2, 3, 4], [[0.5, 0.5]] * 4, learns=False)
    estimate = evaluate(log, [0.5, 0.5], "ips")
    assert (estimate.effective_rounds, estimate.largest_weight, estimate.value) == (4, 1, 2.5)
    rare = evaluate(log, [1.0, 0.0], "ips")
    assert (rare.effective_rounds, rare.largest_weight, rare.value) == (1, 2, 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, "`method`"),
        ({"level": 1.0}, "`level`"),
        ({"level": math.nan}, "`level`"),
        ({"folds": 1}, "`folds`"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate(a_learners_log(), POLICY, **arguments)
