import pytest
import torch

from agents.beliefs import Belief, UpperConfidenceBound
from agents.beliefs.rules import ExpectedImprovement
from agents.beliefs.rules.priced import Priced, log_ratios, price_weight

BELIEF = Belief(torch.tensor([0.3, 0.1, -0.5]).double(), torch.tensor([0.2, 0.4, 0.6]).double(), best=0.2)
MASK = torch.ones(3, dtype=torch.bool)


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_equal_prices_leave_the_index_as_it_is_to_the_last_bit():
    rule = UpperConfidenceBound()
    priced = Priced(rule, price_weight(rule) * log_ratios(numbers(7.3, 7.3, 7.3), MASK))
    assert torch.equal(priced(BELIEF, MASK, torch.Generator()), rule(BELIEF, MASK, torch.Generator()))


def test_log_expected_improvement_becomes_that_for_the_money():
    prices, rule = numbers(2.0, 10.0, 5.0), ExpectedImprovement()
    gain = rule(BELIEF, MASK, torch.Generator()).exp()
    found = Priced(rule, price_weight(rule) * log_ratios(prices, MASK))(BELIEF, MASK, torch.Generator())
    assert torch.allclose(found.exp(), gain / prices * prices.min(), rtol=1e-12)


def test_only_ratios_of_prices_on_offer_count():
    mask = torch.tensor([True, False, True])
    found = log_ratios(numbers(3.0, float("nan"), 12.0), mask)
    assert found.tolist() == pytest.approx([0.0, 0.0, torch.tensor(4.0).log().item()])
    assert torch.allclose(found, log_ratios(numbers(300.0, 1.0, 1200.0), mask))
