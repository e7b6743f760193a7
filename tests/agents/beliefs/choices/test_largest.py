"""The probability that a normal number is the largest, against closed forms, adaptive quadrature, and draws."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import ndtr

from agents.beliefs.choices import largest_of_draws, probability_of_largest


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


def test_shares_of_draws_have_their_standard_errors():
    draws = torch.tensor([[1.0, 0.0, 5.0], [0.0, 2.0, 5.0], [3.0, 3.0, 5.0], [4.0, 0.0, 5.0]], dtype=torch.float64)
    shares, errors = largest_of_draws(draws.repeat(100, 1), torch.tensor([True, True, False]))
    assert shares.tolist() == [0.625, 0.375, 0.0]
    assert errors.tolist() == pytest.approx([np.std([1, 0, 0.5, 1]) / 20, np.std([0, 1, 0.5, 0]) / 20, 0.0])


def test_infinite_numbers_share_as_ties_do():
    draws = torch.tensor([[torch.inf, 1.0, torch.inf], [-torch.inf, -torch.inf, -torch.inf]], dtype=torch.float64)
    every = torch.ones(3, dtype=torch.bool)
    assert largest_of_draws(draws[:1], every)[0].tolist() == [0.5, 0.0, 0.5]
    assert largest_of_draws(draws[1:], every)[0].tolist() == pytest.approx([1 / 3] * 3)
