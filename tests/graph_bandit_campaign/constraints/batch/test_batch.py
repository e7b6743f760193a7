import math

import numpy as np
import pytest

from graph_bandit_campaign.constraints.batch import BatchConstraints


@pytest.mark.parametrize("prices", [0, -1.0, [1.0, 0.0], [1.0, math.inf], math.nan, [[1.0]]])
def test_prices_that_are_none_are_refused(prices):
    with pytest.raises(ValueError, match="`prices` to be positive"):
        BatchConstraints(prices=prices)


@pytest.mark.parametrize(
    ("prices", "got"), [([1.0, 0.0], "0"), ([[1.0]], r"shape `\(1, 1\)`"), (math.nan, "nan"), (-2, "-2")]
)
def test_a_bad_price_is_named(prices, got):
    with pytest.raises(ValueError, match=f"Got {got}."):
        BatchConstraints(prices=prices)


def test_what_belongs_together_comes_together():
    for bad in ({"budget": 5}, {"prices": 1, "budget": 0}, {"prices": 1, "budget": math.nan}):
        with pytest.raises(ValueError, match="`budget` to be positive"):
            BatchConstraints(**bad)
    for bad in ({"groups": ["a"]}, {"at_most": 1}):
        with pytest.raises(ValueError, match="`groups` and `at_most` together"):
            BatchConstraints(**bad)
    with pytest.raises(ValueError, match="at_most"):
        BatchConstraints(groups=["a"], at_most=0)


def test_one_price_is_that_of_all():
    constraints = BatchConstraints(prices=2.5)
    assert constraints.costs(3).tolist() == [2.5, 2.5, 2.5]
    assert constraints.known(3).all()
    assert BatchConstraints(prices=[1.0, math.nan]).known(2).tolist() == [True, False]
    assert BatchConstraints().costs(3) is None


def test_graphs_without_a_group_are_groups_of_their_own():
    numbers = BatchConstraints(groups=["a", "", "b", "", "a"], at_most=1).group_numbers(5)
    assert numbers[0] == numbers[4]
    assert len(np.unique(numbers)) == 4


def test_other_numbers_of_graphs_are_refused():
    with pytest.raises(ValueError, match="price of each of 3 graphs. Got 2"):
        BatchConstraints(prices=[1.0, 2.0]).costs(3)
    with pytest.raises(ValueError, match="group of each of 3 graphs. Got 1"):
        BatchConstraints(groups=["a"], at_most=1).group_numbers(3)
    with pytest.raises(TypeError, match="texts"):
        BatchConstraints(groups=[1], at_most=1).group_numbers(1)


def test_content_tells_plates_apart():
    batches = [
        BatchConstraints(),
        BatchConstraints(prices=1.0),
        BatchConstraints(prices=[1.0, 2.0]),
        BatchConstraints(prices=[1.0, 2.0], budget=3),
        BatchConstraints(groups=["a", "b"], at_most=1),
        BatchConstraints(groups=["a", "b"], at_most=2),
    ]
    assert len({repr(constraints.content()) for constraints in batches}) == len(batches)
    assert BatchConstraints().content() == []
    assert BatchConstraints(prices=[1, 2]).content() == BatchConstraints(prices=np.array([1.0, 2.0])).content()
