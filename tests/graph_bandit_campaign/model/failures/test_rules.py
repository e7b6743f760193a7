"""Rules by which molecules fail, against counting by hand."""

import numpy as np
import pytest

from graph_bandit_campaign.model.failures import rules
from graph_bandit_campaign.model.failures.rules import Case, learn_rules


def features(count=60, number=8, seed=0):
    return np.random.default_rng(seed).random((count, number)) < 0.4


def even(has):
    return np.full(has.shape[1], -np.log(has.shape[1]))


def learn(has, failed):
    return learn_rules(has, failed, even(has))


def predict(learnt, has):
    return learnt.probability(has[:, learnt.features])


def one_after_another(failed):
    """Probability of a sequence if each failure is predicted by those before: (f + 1/2) / (n + 1)."""
    probability = 1.0
    for number, fails in enumerate(failed):
        rate = (failed[:number].sum() + 0.5) / (number + 1)
        probability *= rate if fails else 1 - rate
    return probability


def test_rules_weigh_what_they_would_have_predicted_one_molecule_after_another(monkeypatch):
    monkeypatch.setattr(rules, "LENGTHS", (0.5,))
    monkeypatch.setattr(rules, "ENOUGH", 1.0)
    has, failed = features(12, 3), np.arange(12) % 4 == 0
    products = [one_after_another(failed[column]) * one_after_another(failed[~column]) / 3 for column in has.T]
    every = np.array([*products, one_after_another(failed)])
    learnt = learn(has, failed)
    assert {rule.cases[0].feature: rule.weight for rule in learnt.rules} == pytest.approx(
        dict(enumerate((every / every.sum())[:3]))
    )
    assert learnt.at_random == pytest.approx(every[3] / every.sum())


def test_a_feature_that_explains_all_failures_is_found_with_its_rates():
    has = features()
    learnt = learn(has, has[:, 3])
    best, number = learnt.rules[0], int(has[:, 3].sum())
    assert best.cases == (Case(3, True),)
    assert best.rates == pytest.approx(((number + 0.5) / (number + 1), 0.5 / (61 - number)))
    assert np.array_equal(predict(learnt, has) > 0.5, has[:, 3])


@pytest.mark.parametrize(
    "cause",
    [
        lambda has: has[:, 1] | has[:, 5],
        lambda has: has[:, 1] & has[:, 5],
        lambda has: ~has[:, 1],
        lambda has: has[:, 1] | has[:, 5] | has[:, 6],
    ],
    ids=["either", "both", "lack", "three"],
)
def test_causes_of_several_features_are_found(cause):
    has, others = features(120), features(200, seed=1)
    assert np.array_equal(predict(learn(has, cause(has)), others) > 0.5, cause(others))


def test_random_failures_leave_the_weight_on_no_rule():
    weights, draws = [], np.random.default_rng(2)
    for _ in range(10):
        has, failed = draws.random((200, 200)) < 0.4, draws.random(200) < 0.2
        learnt = learn(has, failed)
        weights.append(learnt.at_random)
        assert predict(learnt, has).max() < 0.5
        assert predict(learnt, has).mean() == pytest.approx(failed.mean(), abs=0.03)
    assert np.mean(weights) > 0.6


def test_noisy_causes_give_their_rate():
    has, draws = features(400), np.random.default_rng(3).random(400)
    expected = np.where(has[:, 2], 0.7, 0.1)
    assert np.abs(predict(learn(has, draws < expected), has) - expected).max() < 0.12


def test_features_that_no_result_tells_apart_share_a_rule():
    has = features()
    twice = np.concatenate([has, has[:, [3]]], axis=1)
    chance = np.array([[False] * 8 + [True]])  # has the copy, but not the feature itself
    assert predict(learn(twice, twice[:, 3]), chance)[0] == pytest.approx(0.5, abs=0.02)
