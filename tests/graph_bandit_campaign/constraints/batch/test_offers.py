import math

import numpy as np
import pytest

from graph_bandit_campaign import Limits
from graph_bandit_campaign.constraints.batch.offers import find_offer_columns, find_offers, murcko_scaffolds
from graph_bandit_campaign.constraints.batch.terms import Terms
from graph_bandit_campaign.constraints.limits.columns import LimitColumns

SMILES = ["CCO", "c1ccccc1C", "CCN"]
ROWS = LimitColumns(
    [0, 0, 0, 1, 2],
    {"price": [9.0, 3.0, 1.0, math.nan, 7.0]},
    {"vendor": ["A", "B", "C", "A", ""], "stock": ["yes", "yes", "no", "yes", "yes"]},
)


def settings(**given):
    return Terms(count=8, **given)


def offers(limits=Limits(), rows=ROWS, **given):  # noqa: B008 - immutable
    return find_offers(settings(**given), rows, limits.select_rows(SMILES, rows), SMILES)


def test_the_cheapest_row_that_meets_the_limits_counts():
    asked = {"price": "price", "at_most": 1, "per": "vendor"}
    found = offers(**asked)
    assert np.array_equal(found.prices, [1.0, math.nan, 7.0], equal_nan=True)
    assert found.groups == ["C", "A", ""]
    found = offers(Limits(only=["stock=yes"]), **asked)
    assert np.array_equal(found.prices, [3.0, math.nan, 7.0], equal_nan=True)
    assert found.groups == ["B", "A", ""]
    found = offers(Limits(only=["stock=yes"], require=["price>5"]), **asked)
    assert np.array_equal(found.prices, [9.0, math.nan, 7.0], equal_nan=True)
    assert found.priced.tolist() == [True, False, True]


def test_without_prices_the_first_row_that_meets_the_limits_counts():
    found = offers(at_most=1, per="vendor")
    assert found.groups == ["A", "A", ""]
    assert found.constraints(settings(at_most=1, per="vendor"), 3).prices is None


def test_one_price_and_scaffolds_need_no_columns():
    found = offers(rows=LimitColumns(()), price="2.5", budget=10, at_most=1, per="scaffold")
    constraints = found.constraints(settings(price="2.5", budget=10, at_most=1, per="scaffold"), 4)
    assert np.array_equal(constraints.prices, [2.5, 2.5, 2.5, math.nan], equal_nan=True)
    assert constraints.groups == ["", "c1ccccc1", "", ""]
    assert (constraints.budget, constraints.at_most) == (10, 1)


def test_columns_are_found_by_name():
    asked = settings(price="price", at_most=1, per="scaffold")
    assert find_offer_columns(asked, ["Price", "smiles"], "pool.csv") == ({"price": "Price"}, {})
    assert find_offer_columns(asked, ["price", "scaffold"], "pool.csv")[1] == {"scaffold": "scaffold"}
    with pytest.raises(ValueError, match="Expected `--price price` .* give one price"):
        find_offer_columns(settings(price="price"), ["smiles"], "pool.csv")
    with pytest.raises(ValueError, match="Expected `--per vendor` .* group by scaffold"):
        find_offer_columns(settings(at_most=1, per="vendor"), ["smiles"], "pool.csv")


def test_scaffolds_are_rings_and_what_joins_them():
    found = murcko_scaffolds(["Cc1ccccc1", "OCc1ccc(Cl)cc1", "c1ccccc1CCC1CC1", "CCO", "O=C1CCCCC1C"])
    assert found == ["c1ccccc1", "c1ccccc1", "c1ccc(CCC2CC2)cc1", "", "O=C1CCCCC1"]


def test_stereoisomers_have_one_scaffold():
    one, other = murcko_scaffolds(["N[C@@H]1CC[C@H](O)CC1", "N[C@@H]1CC[C@@H](O)CC1"])
    assert one == other == "C1CCCCC1"
