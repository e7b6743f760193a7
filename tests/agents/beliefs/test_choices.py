"""Probabilities of choices: against closed forms, adaptive quadrature, draws, and the choices themselves."""

import copy
import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import ndtr

import registry
from agents.beliefs import Belief, Greedy, Memoryless, PhasedElimination, ThompsonSampling
from agents.beliefs.choices import choice_probabilities, largest_of_draws, probability_of_largest
from agents.beliefs.rules import EpsilonGreedy, InverseGapWeighting
from agents.contract import masked_argmax
from graph_bandit_lab import run_bandit

MEAN, SPREAD = torch.tensor([0.2, 0.5, 0.5, -1.0]).double(), torch.tensor([0.6, 0.1, 0.3, 2.0]).double()
ROOT = torch.diag(SPREAD) @ torch.tensor([[1.0, 0, 0], [0.8, 0.6, 0], [0, 0.6, 0.8], [0, -1, 0]]).double()
BELIEF = Belief(MEAN, SPREAD, root=lambda: ROOT)
MASK = torch.tensor([True, True, False, True])


def largest(mean, std):
    return probability_of_largest(torch.tensor(mean, dtype=torch.float64), torch.tensor(std, dtype=torch.float64))


@given(st.floats(-5, 5), st.floats(1e-6, 1e3), st.floats(1e-6, 1e3))
def test_of_two_numbers_it_is_the_closed_form(difference, first, second):
    expected = ndtr(difference / math.hypot(first, second))
    assert largest([difference, 0.0], [first, second])[0].item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_of_some_numbers_it_is_that_of_adaptive_quadrature(seed):
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(size=6), np.exp(rng.normal(-1, 2, 6))
    marks = sorted({float(m + c * s) for m, s in zip(mean, std, strict=True) for c in (-6, -3, -1, 0, 1, 3, 6)})

    def density(x, k):
        others = np.delete(np.arange(6), k)
        return stats.norm.pdf(x, mean[k], std[k]) * stats.norm.cdf(x, mean[others], std[others]).prod()

    for k, value in enumerate(largest(mean, std).tolist()):
        low, high = mean[k] - 9 * std[k], mean[k] + 9 * std[k]
        inside = [low, *(mark for mark in marks if low < mark < high), high]
        parts = [integrate.quad(density, a, b, (k,), epsabs=1e-13)[0] for a, b in itertools.pairwise(inside)]
        assert value == pytest.approx(sum(parts), abs=1e-9)


def test_a_certain_number_is_a_point_and_equal_points_share():
    assert largest([1.0, 1.0, 0.0], [0.0, 0.0, 1.0]).tolist() == pytest.approx([ndtr(1) / 2, ndtr(1) / 2, ndtr(-1)])
    assert largest([1.0, 2.0, 2.0], [0.0, 0.0, 0.0]).tolist() == [0.0, 0.5, 0.5]
    assert largest([1.0], [0.0]).tolist() == [1.0]
    assert largest([-3.0], [2.0]).tolist() == [1.0]


@pytest.mark.parametrize(
    ("draws", "shares"),
    [
        (
            [[1.0, 0.0, 5.0], [0.0, 2.0, 5.0], [3.0, 3.0, 5.0], [4.0, 0.0, 5.0]],
            [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [1, 0, 0]],
        ),
        ([[torch.inf, torch.inf, 1.0]], [[0.5, 0.5, 0]]),  # infinite numbers share as ties do
        ([[-torch.inf, -torch.inf, 1.0]], [[0.5, 0.5, 0]]),
    ],
)
def test_shares_of_draws_have_their_standard_errors(draws, shares):
    found, errors = largest_of_draws(torch.tensor(draws * 100).double(), torch.tensor([True, True, False]))
    assert found.tolist() == pytest.approx(np.mean(shares, axis=0))
    count = len(shares) * 100
    assert errors.tolist() == pytest.approx([*np.maximum(np.std(shares, axis=0) / count**0.5, 1 / count)[:2], 0])


@dataclass
class Perturbed(Memoryless):
    """A rule of somebody else that draws, and knows no probabilities."""

    def __call__(self, belief, action_mask, generator):
        return belief.mean + torch.rand(4, generator=generator, dtype=torch.float64)


def shares(rule, count=4_000):
    generator, played = torch.Generator().manual_seed(1), np.zeros(4)
    for _ in range(count):
        played[masked_argmax(copy.deepcopy(rule)(BELIEF, MASK, generator), MASK, generator)] += 1
    return played / count


@pytest.mark.parametrize(
    "rule",
    [ThompsonSampling(), ThompsonSampling("joint"), EpsilonGreedy(0.3), InverseGapWeighting(), Perturbed()],
    ids=repr,
)
def test_probabilities_are_the_shares_of_choices(rule):
    weighed = choice_probabilities(rule, BELIEF, MASK, torch.Generator().manual_seed(0), 10_000)
    assert weighed.values == pytest.approx(shares(rule), abs=0.03)
    assert weighed.values[2] == 0
    assert weighed.values.sum() == pytest.approx(1)


def test_only_what_is_estimated_from_draws_has_an_error():
    def errors(rule, draws):
        return choice_probabilities(rule, BELIEF, MASK, torch.Generator(), draws).errors

    for exact in (ThompsonSampling(), EpsilonGreedy(0.3), InverseGapWeighting(), Greedy()):
        assert not errors(exact, 100).any()
    for drawn in (ThompsonSampling("joint"), Perturbed()):
        few, many = errors(drawn, 100), errors(drawn, 10_000)
        assert many[MASK.numpy()].max() == pytest.approx(few.max() / 10, rel=0.2)
        assert many[2] == 0


def test_a_rule_that_draws_nothing_plays_one_graph_or_shares_among_those_that_tie():
    def of(mean, rule=None):
        belief = Belief(torch.tensor(mean).double(), SPREAD, root=lambda: ROOT)
        return choice_probabilities(rule or Greedy(), belief, MASK, torch.Generator(), 2).values.tolist()

    assert of([0.2, 0.5, 0.9, -1.0]) == [0, 1, 0, 0]
    assert of([0.5, 0.5, 0.9, 0.5 - 1e-14]) == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3])
    uncertain = of([0.2, 0.5, 0.5, -1.0], PhasedElimination())  # the most uncertain that may be best
    assert uncertain == [0, 0, 0, 1]


@pytest.mark.parametrize("name", ["gaussian-ts", "exp3"])
def test_an_agent_plays_as_often_as_it_says(name, small_env):
    env, agent = small_env(num_graphs=4, horizon=6), registry.make_agent(name)
    run_bandit(env, agent, seed=1)
    mask = np.array([1, 0, 1, 1], np.int8)
    weighed = agent.action_probabilities(None, mask)
    played = np.bincount([agent.select_action(None, mask) for _ in range(1500)], minlength=4) / 1500
    assert played == pytest.approx(weighed.values, abs=4 * 0.5 / np.sqrt(1500))
