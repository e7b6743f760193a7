"""What a batch may cost and hold: prices and groups of a pool's rows, and what is said of them."""

import math

import numpy as np
import pytest

from graph_bandit_campaign import Limits
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints, Bill, Terms
from graph_bandit_campaign.constraints.batch.offers import find_offer_columns, find_offers, murcko_scaffolds
from graph_bandit_campaign.constraints.limits.limits import LimitColumns

SMILES = ["CCO", "c1ccccc1C", "CCN"]
ROWS = LimitColumns(
    [0, 0, 0, 1, 2],
    {"price": [9.0, 3.0, 1.0, math.nan, 7.0]},
    {"vendor": ["A", "B", "C", "A", ""], "stock": ["yes", "yes", "no", "yes", "yes"]},
)


def settings(**given):
    return Terms(count=8, **given)


def offers(limits=Limits(), rows=ROWS, **given):  # noqa: B008 - immutable
    return find_offers(settings(**given), rows, limits.select_rows(SMILES, rows))


def test_the_cheapest_row_that_meets_the_limits_counts():
    asked = {"price": "price", "max_per_group": 1, "group_by": "vendor"}
    for limits, price, group in (
        (Limits(), 1.0, "C"),
        (Limits(filter=["stock=yes"]), 3.0, "B"),
        (Limits(filter=["stock=yes"], require=["price>5"]), 9.0, "A"),
    ):
        prices, groups = offers(limits, **asked)
        assert np.array_equal(prices, [price, math.nan, 7.0], equal_nan=True)
        assert groups[0] == group
    assert offers(max_per_group=1, group_by="vendor")[1] == ["A", "A", ""]
    free = LimitColumns([0, 1, 2], {"price": [0.0, -1.0, 5.0]})
    assert np.array_equal(offers(rows=free, price="price")[0], [math.nan, math.nan, 5.0], equal_nan=True)


def test_one_price_needs_no_column():
    constraints = settings(price="2.5", budget=10).constraints(*offers(rows=LimitColumns(()), price="2.5"), 4)
    assert np.array_equal(constraints.prices, [2.5, 2.5, 2.5, math.nan], equal_nan=True)
    assert (constraints.groups, constraints.budget, constraints.max_per_group) == (None, 10, None)


def test_columns_are_found_by_name():
    asked = settings(price="price", max_per_group=1, group_by="scaffold")
    assert find_offer_columns(asked, ["Price", "smiles"], "pool.csv") == ({"price": "Price"}, {})
    assert find_offer_columns(asked, ["price", "scaffold"], "pool.csv")[1] == {"scaffold": "scaffold"}
    for given, name in (({"price": "price"}, "--price"), ({"max_per_group": 1, "group_by": "vendor"}, "--group-by")):
        with pytest.raises(ValueError, match=name):
            find_offer_columns(settings(**given), ["smiles"], "pool.csv")


def test_scaffolds_are_rings_and_what_joins_them():
    found = murcko_scaffolds(["Cc1ccccc1", "OCc1ccc(Cl)cc1", "c1ccccc1CCC1CC1", "CCO", "O=C1CCCCC1C"])
    assert found == ["c1ccccc1", "c1ccccc1", "c1ccc(CCC2CC2)cc1", "", "O=C1CCCCC1"]
    stereoisomers = murcko_scaffolds(["N[C@@H]1CC[C@H](O)CC1", "N[C@@H]1CC[C@@H](O)CC1"])
    assert stereoisomers == ["C1CCCCC1"] * 2


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ({"budget": 5}, "budget"),
        ({"prices": 1, "budget": 0}, "budget"),
        ({"prices": 1, "budget": math.nan}, "budget"),
        ({"groups": ["a"]}, "max_per_group"),
        ({"max_per_group": 1}, "groups"),
        ({"groups": ["a"], "max_per_group": 0}, "max_per_group"),
    ],
)
def test_what_belongs_together_comes_together(bad, name):
    with pytest.raises(ValueError, match=name):
        BatchConstraints(**bad)


def test_graphs_without_a_group_are_groups_of_their_own():
    numbers = BatchConstraints(groups=["a", "", "b", "", "a"], max_per_group=1).group_numbers(5)
    assert numbers[0] == numbers[4]
    assert len(np.unique(numbers)) == 4


@pytest.mark.parametrize(
    ("prices", "chosen", "given", "said"),
    [
        ([1.0, 2.5, math.nan, 4.0], ["b", "a"], {"price": "price", "budget": 5}, "3.5 in all, of a budget of 5: 1.5 "),
        (0.1, ["a", "b", "c"], {"price": "0.1", "budget": 0.3}, "0.3 in all, of a budget of 0.3: 0 "),
    ],
    ids=["prices of a column", "0.1 + 0.1 + 0.1 > 0.3"],
)
def test_a_bill_says_what_was_spent_and_what_is_left(prices, chosen, given, said):
    constraints = BatchConstraints(prices=prices, budget=given["budget"])
    found = Bill.of(chosen, ("a", "b", "c", "d"), constraints, Terms(count=3, **given))
    assert said in found.sentence()
    assert (len(chosen) < 3) == ("the 3 asked for" in found.sentence())
    assert found.cells("b") == {"price": "2.5" if isinstance(prices, list) else "0.1"}
