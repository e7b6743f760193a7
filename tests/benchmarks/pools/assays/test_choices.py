"""What is bought: the molecule and assay that the rules say, once each, for no more than the money of a round."""

import math

import numpy as np
import pytest
import torch

from benchmarks.pools.assays.choices import RULES, Offer, by_funnel, by_variance, expected_gain, spend_round
from benchmarks.pools.assays.linked import LinkedModel, Results


def offer(mean, dear, cheap, shared, **changes):
    """An offer of independent molecules, whose dear and cheap values have these variances and this covariance."""
    parts = [torch.diag(torch.tensor(each, dtype=torch.float64)) for each in (dear, shared, shared, cheap)]
    covariance = torch.cat([torch.cat(parts[:2], 1), torch.cat(parts[2:], 1)])
    every = torch.ones(len(mean), dtype=torch.bool)
    given = Offer(torch.tensor(mean, dtype=torch.float64), covariance, 0.01, 0.01, 100.0, 10.0, every, every, 1.0)
    return given._replace(**changes)


def test_the_expected_gain_is_that_of_many_draws():
    draws = np.random.default_rng(0).normal(0.3, 0.7, 1_000_000)
    known = expected_gain(torch.tensor([0.3]), torch.tensor([0.7]), 1.0).item()
    assert known == pytest.approx(np.maximum(draws - 1.0, 0).mean(), rel=0.01)


@pytest.mark.parametrize("rule", RULES.values())
def test_a_close_cheap_assay_is_used_first_and_a_useless_one_never(rule):
    close = offer([0.0, 0.5], [1.0, 1.0], [1.0, 1.0], [0.95, 0.95])
    assert rule(close) == (1, True)
    assert rule(offer([0.0, 0.5], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0])) == (1, False)
    assert rule(close._replace(cheap_open=torch.tensor([True, False])))[0] in (0, 1)
    assert rule(close._replace(dear_open=torch.tensor([False, False]), dear_price=math.inf))[1]


def test_the_funnel_is_the_best_of_all_ways_to_test_and_buy():
    mean, dear, cheap, shared = 0.2, 0.8, 1.3, 0.7
    given = offer([mean, -9.0], [dear, 1e-6], [cheap, 1.0], [shared, 0.0])
    generator = np.random.default_rng(1)
    result = generator.normal(size=400_000)
    deviation = shared / math.sqrt(cheap + 0.01)
    value = mean + deviation * result + math.sqrt(dear - deviation**2) * generator.normal(size=len(result))
    gains = np.maximum(value - 1.0, 0)
    tested = max((gains * (result > cut)).mean() / (10 + 100 * (result > cut).mean()) for cut in np.linspace(-3, 3, 61))
    assert by_funnel(given) == (0, tested > gains.mean() / 100)
    dearer = given._replace(cheap_price=60.0)
    tested = max((gains * (result > cut)).mean() / (60 + 100 * (result > cut).mean()) for cut in np.linspace(-3, 3, 61))
    assert by_funnel(dearer) == (0, tested > gains.mean() / 100)
    assert by_funnel(given) != by_funnel(dearer)


def test_the_variance_rule_takes_the_molecule_of_the_highest_bound():
    given = offer([0.0, 0.5], [4.0, 0.1], [4.0, 0.1], [3.0, 0.09])
    assert by_variance(given) == (0, True)
    assert by_variance(given._replace(cheap_price=90.0)) == (0, False)


@pytest.mark.parametrize("rule", RULES.values())
@pytest.mark.parametrize("cheap_price", [10.0, math.inf])
def test_a_round_spends_its_money_and_takes_each_molecule_once(rule, cheap_price):
    points = torch.from_numpy(np.random.default_rng(0).normal(size=(90, 2)))
    kernels = torch.exp(-torch.cdist(points, points).square()).unsqueeze(0)
    model = LinkedModel(kernels, (1.0,))
    told = torch.tensor([*range(10), *range(10)])
    values = points[told, 0] + 0.1 * torch.randn(20, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    model.fit(Results(told, torch.arange(20) >= 10, values))
    has = torch.arange(90) < 10
    dear, cheap = spend_round(model, rule, has, has, (100.0, cheap_price), 555.0, 0.8)
    assert len({*dear, *cheap}) == len(dear) + len(cheap)
    assert min([*dear, *cheap]) >= 10
    left = 555 - 100 * len(dear) - (10 * len(cheap) if cheap else 0)
    assert 0 <= left < min(100.0, cheap_price)
    assert bool(cheap) == math.isfinite(cheap_price)
