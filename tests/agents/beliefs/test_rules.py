"""Acquisition rules, against their published formulas."""

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from agents.beliefs import Belief
from agents.beliefs.rules import (
    CountBonus,
    EpsilonGreedy,
    ExpectedImprovement,
    Greedy,
    InverseGapWeighting,
    PhasedElimination,
    ThompsonSampling,
    UpperConfidenceBound,
    inverse_gap_weights,
    log_gain,
)
from agents.beliefs.rules.priced import Priced, log_ratios, price_weight
from agents.contract.inputs import masked_argmax

TWO = ([1.0, -2.0], [0.5, 4.0])


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


def belief(mean, spread, root=None, best=None):
    return Belief(numbers(*mean), numbers(*spread), root=lambda: root, best=best)


def index_of(rule, mean, spread, mask=None, best=None):
    mask = torch.ones(len(mean), dtype=torch.bool) if mask is None else torch.tensor(mask)
    return rule(belief(mean, spread, best=best), mask, torch.Generator())


def draws(rule, belief, count=20_000):
    generator, mask = torch.Generator().manual_seed(0), torch.ones(len(belief.mean), dtype=torch.bool)
    return torch.stack([rule(belief, mask, generator) for _ in range(count)])


def test_independent_draws_have_the_mean_and_the_spread_as_standard_deviation():
    drawn = draws(ThompsonSampling(), belief(*TWO))
    assert drawn.mean(0).tolist() == pytest.approx([1.0, -2.0], abs=0.1)
    assert drawn.std(0).tolist() == pytest.approx([0.5, 4.0], rel=0.02)
    assert torch.corrcoef(drawn.T)[0, 1].item() == pytest.approx(0, abs=0.03)


def test_joint_draws_have_the_joint_covariance():
    root = torch.tensor([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0]]).double()
    drawn = draws(ThompsonSampling("joint"), belief([1.0, -2.0], [9.0, 9.0], root))
    assert drawn.mean(0).tolist() == pytest.approx([1.0, -2.0], abs=0.03)
    torch.testing.assert_close(torch.cov(drawn.T), root @ root.T, atol=0.03, rtol=0)


@pytest.mark.parametrize(("rule", "expected"), [(UpperConfidenceBound(), [1.5, 2.0]), (Greedy(), [1.0, -2.0])])
def test_the_index_is_the_mean_plus_the_spread_or_not(rule, expected):
    assert index_of(rule, *TWO).tolist() == expected


def test_epsilon_greedy_ties_everything_as_often_as_it_says():
    drawn = draws(EpsilonGreedy(0.2), belief(*TWO), 5000)
    assert ((drawn == 0).all(1)).double().mean().item() == pytest.approx(0.2, abs=0.02)
    assert torch.equal(drawn[(drawn != 0).any(1)][0], torch.tensor([1.0, -2.0]).double())


@pytest.mark.parametrize("epsilon", [-0.01, 1.01, float("nan")])
def test_epsilon_is_a_probability(epsilon):
    with pytest.raises(ValueError, match="`epsilon` to be between 0 and 1"):
        EpsilonGreedy(epsilon)


def test_the_bonus_of_ucb1_grows_with_the_logarithm_of_the_round():
    rule = CountBonus()
    found = draws(rule, belief(*TWO), 3).tolist()
    bonus = [1.1774100225154747, 1.4823038073675112, 1.6651092223153956]  # sqrt(2 log t) at t = 2, 3, 4
    assert found == [pytest.approx([1 + 0.5 * b, -2 + 4 * b]) for b in bonus]
    twin = CountBonus()
    twin.load_state_dict(rule.state_dict())
    assert twin == rule != CountBonus()


def test_elimination_plays_the_most_uncertain_graph_that_may_be_the_best():
    rule = PhasedElimination()
    assert index_of(rule, [0.0, 1.0, -9.0], [0.8, 0.3, 2.0]).tolist() == [0.8, 0.3, -torch.inf]
    assert rule.candidates.tolist() == [True, True, False]


def test_where_no_candidate_is_on_offer_the_best_upper_bound_is_played():
    rule = PhasedElimination()
    index = index_of(rule, [5.0, 0.0, 1.0], [0.1, 0.5, 0.1], [False, True, True])
    assert rule.candidates.tolist() == [True, False, False]
    assert index[1:].tolist() == pytest.approx([0.5, 1.1])


def test_doubling_eliminates_after_episodes_of_doubling_length_and_for_good():
    rule, left = PhasedElimination("doubling"), []
    for round_ in range(16):  # one more graph looks bad each round, but for the last, in which all look good again
        index_of(rule, [float(k < 16 - round_ or round_ == 15) for k in range(16)], [0.1] * 16)
        left.append(int(rule.candidates.sum()))
    assert left == [16, 15, 15, 13, 13, 13, 13, 9, 9, 9, 9, 9, 9, 9, 9, 9]


def test_elimination_goes_on_where_it_stood_but_on_another_set_with_all_graphs():
    rule, twin = PhasedElimination("doubling"), PhasedElimination("doubling")
    for mean in ([0.0, 1.0, -9.0], [0.0, 1.0, 5.0]):
        index_of(rule, mean, [0.5] * 3)
    twin.load_state_dict(rule.state_dict())
    assert torch.equal(*(index_of(one, [9.0, 0.0, 0.0], [0.5] * 3) for one in (rule, twin)))
    assert twin.rounds == rule.rounds == 3
    rule.forget_graphs()
    index_of(rule, [-9.0, 0.0, 1.0, 0.9], [0.1] * 4)  # the first round on a set eliminates
    assert rule.candidates.tolist() == [False, False, True, True]


@pytest.mark.parametrize(("mean", "spread", "best"), [(0.3, 1.2, 0.5), (2.0, 0.1, 1.0), (-1.0, 0.5, 1.5)])
def test_expected_improvement_is_the_integral_of_the_gain(mean, spread, best):
    expected, _ = quad(lambda r: (r - best) * norm.pdf(r, mean, spread), best, best + 12 * spread + 12, epsabs=1e-12)
    found = index_of(ExpectedImprovement(), [mean] * 3, [spread] * 3, best=best)[0].exp().item()
    assert found == pytest.approx(expected, rel=1e-8)


@given(st.floats(-1e6, 40.0) | st.sampled_from([-1000.5, -1500.0, -4000.0]))
def test_the_logarithm_is_that_of_the_plain_formula_in_many_digits(z):
    with mpmath.workdps(80):
        expected = float(mpmath.log(mpmath.npdf(z) + z * mpmath.ncdf(z))) if z > -5e3 else None
        if expected is None:  # phi(z) (z^-2 - 3 z^-4 + ...)
            expected = float(-(mpmath.mpf(z) ** 2) / 2 - mpmath.log(2 * mpmath.pi) / 2 - 2 * mpmath.log(-z))
    assert log_gain(numbers(z)).item() == pytest.approx(expected, rel=1e-8 if z < -5e3 else 1e-14, abs=1e-8)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e3), st.floats(-1e6, 1e6))
def test_expected_improvement_is_never_nan(mean, spread, best):
    index = index_of(ExpectedImprovement(), [mean, best, 0.0], [spread, 0.0, 1.0], best=best)
    assert not index.isnan().any()


@pytest.mark.parametrize(
    ("mean", "spread", "best", "expected"),
    [
        ([3.0, 1.0, 0.0], 0.0, 1.0, [2.0, 0.0, 0.0]),  # a sure gain is the gain, and a sure loss gains nothing
        ([1.0, 0.0, 0.0], 0.1, 1.0, [0.1 * norm.pdf(0), 0.0, 0.0]),  # the best one gains by its uncertainty alone
        ([1.0, 0.0, 0.0], 0.1, 0.0, [1.0, 0.1 * norm.pdf(0), 0.1 * norm.pdf(0)]),  # unless it was never played
        ([1.0, 0.0, 0.0], 0.1, None, [0.1 * norm.pdf(0), 0.0, 0.0]),
    ],
)
def test_the_gain_is_over_the_best_mean_that_was_seen(mean, spread, best, expected):
    found = index_of(ExpectedImprovement(), mean, [spread] * 3, best=best).exp()
    assert found.tolist() == pytest.approx(expected, abs=1e-12)


def test_graphs_that_cannot_be_played_do_not_hide_how_the_others_differ():
    left = [False, True, True]
    index = index_of(ExpectedImprovement(), [9.0, -1e4, -1e4 - 1], [1.0] * 3, left, best=0.0)
    assert masked_argmax(index, torch.tensor(left), torch.Generator()) == 1


def published(predictions, gamma):
    """The distribution of Algorithm 1 of Foster & Rakhlin (2020), one action after the other."""
    best = int(np.argmax(predictions))
    p = [1 / (len(predictions) + gamma * (predictions[best] - y)) for y in predictions]
    p[best] = 1 - sum(p[:best]) - sum(p[best + 1 :])
    return p


@pytest.mark.parametrize("gamma", [0.0, 0.7, 100.0])
@pytest.mark.parametrize("mean", [[0.3, -1.0, 2.5, 2.4], [-7.0], [1.0, 1.0, 1.0]])
def test_gaps_weigh_as_in_the_paper_and_graphs_that_are_not_on_offer_do_not_count(mean, gamma):
    found = inverse_gap_weights(numbers(*mean, 99.0), torch.tensor([True] * len(mean) + [False]), gamma)
    np.testing.assert_allclose(found, [*published(mean, gamma), 0], rtol=1e-12)


def test_gaps_weigh_more_in_each_round_and_the_spread_does_not_count():
    rule, twin, mean = InverseGapWeighting(2.0), InverseGapWeighting(2.0), [0.0, 1.0, 0.4]
    for _ in range(3):
        index_of(rule, mean, [np.nan] * 3)
    rule.forget_graphs()
    twin.load_state_dict(rule.state_dict())
    assert twin == rule != InverseGapWeighting(2.0)
    waiting = torch.empty(3, dtype=torch.float64).exponential_(generator=torch.Generator())
    index = index_of(rule, mean, [np.nan] * 3)  # log p + Gumbel noise, whose seed is known
    np.testing.assert_allclose(index + waiting.log(), np.log(published(mean, 2.0 * (3 * 4) ** 0.5)), rtol=1e-9)


PRICED = ([0.3, 0.1, -0.5], [0.2, 0.4, 0.6])


def test_equal_prices_leave_the_index_as_it_is_to_the_last_bit():
    rule, mask = UpperConfidenceBound(), torch.ones(3, dtype=torch.bool)
    priced = Priced(rule, price_weight(rule) * log_ratios(numbers(7.3, 7.3, 7.3), mask))
    assert torch.equal(index_of(priced, *PRICED), index_of(rule, *PRICED))


def test_log_expected_improvement_becomes_that_for_the_money():
    prices, rule, mask = numbers(2.0, 10.0, 5.0), ExpectedImprovement(), torch.ones(3, dtype=torch.bool)
    gain = index_of(rule, *PRICED, best=0.2).exp()
    found = index_of(Priced(rule, price_weight(rule) * log_ratios(prices, mask)), *PRICED, best=0.2)
    assert torch.allclose(found.exp(), gain / prices * prices.min(), rtol=1e-12)


def test_only_ratios_of_prices_on_offer_count():
    mask = torch.tensor([True, False, True])
    found = log_ratios(numbers(3.0, float("nan"), 12.0), mask)
    assert found.tolist() == pytest.approx([0.0, 0.0, torch.tensor(4.0).log().item()])
    assert torch.allclose(found, log_ratios(numbers(300.0, 1.0, 1200.0), mask))
