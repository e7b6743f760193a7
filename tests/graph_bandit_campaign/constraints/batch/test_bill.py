import math

import pytest

from graph_bandit_campaign.constraints.batch import BatchConstraints
from graph_bandit_campaign.constraints.batch.bill import Bill, money, shortened
from graph_bandit_campaign.constraints.batch.terms import Terms

IDS = ("a", "b", "c", "d")


def bill(chosen, constraints, **settings):
    return Bill.of(chosen, IDS, constraints, Terms(count=settings.pop("n", 8), **settings))


def test_it_says_what_was_spent_and_what_is_left():
    constraints = BatchConstraints(prices=[1.0, 2.5, math.nan, 4.0], budget=5)
    found = bill(["b", "a"], constraints, n=3, price="price", budget=5)
    assert found.total == 3.5
    assert found.differ
    assert found.sentence() == (
        "The 2 suggestions cost 3.5 in all, of a budget of 5: 1.5 is left. Prices were weighed: a dear molecule had to "
        "be better than a cheap one to be suggested. To let them count for the budget alone, pass --budget-only. "
        "Nothing else on offer is that cheap, so there are fewer than the 3 asked for."
    )
    assert found.heading() == ["price"]
    assert found.cells("b") == ["2.5"]


def test_a_budget_that_pays_for_all_asked_for_is_no_reason_for_fewer():
    found = bill(["b", "a"], BatchConstraints(prices=[1.0, 2.5, math.nan, 4.0], budget=5), n=2, price="price", budget=5)
    assert "fewer" not in found.sentence()


def test_one_suggestion_is_told_in_the_singular():
    found = bill(["a"], BatchConstraints(prices=[1.0, 2.5, 3.0, 4.0], budget=1.5), n=1, price="price", budget=1.5)
    assert found.sentence().startswith("The suggestion costs 1 in all, of a budget of 1.5: 0.5 is left.")


def test_what_rounding_takes_off_a_budget_is_not_owed():  # 0.1 + 0.1 + 0.1 > 0.3
    found = bill(["a", "b", "c"], BatchConstraints(prices=0.1, budget=0.3), n=3, price="0.1", budget=0.3)
    assert "cost 0.3 in all, of a budget of 0.3: 0 is left." in found.sentence()


@pytest.mark.parametrize(
    ("constraints", "told"),
    [
        (BatchConstraints(prices=[1.0, 2.5, math.nan, 4.0]), True),
        (BatchConstraints(prices=[1.0, 2.5, math.nan, 4.0], budget=9, budget_only=True), False),
        (BatchConstraints(prices=2.0), False),
    ],
)
def test_it_says_whether_prices_were_weighed(constraints, told):
    found = bill(["b", "a"], constraints, price="price").sentence()
    assert ("Prices were weighed" in found) == told
    assert "--budget-only" not in found


def test_it_says_how_many_groups_there_are():
    found = bill(["a", "b", "c"], BatchConstraints(groups=["x", "x", "", "y"], at_most=2), n=3, at_most=2, per="vendor")
    assert found.sentence() == (
        "At most 2 suggestions have the same vendor; different ones in this batch: 1; without one: 1."
    )
    assert found.lines("a") == [("vendor", "x")]
    assert found.cells("c") == [""]
    assert not found.differ


def test_without_prices_and_caps_it_says_nothing():
    assert (Bill().sentence(), Bill().heading(), Bill().cells("a")) == ("", [], [])
    assert not bill(["a"], BatchConstraints(prices=2.0), price="2").differ


@pytest.mark.parametrize(
    ("amount", "text"), [(12.5, "12.5"), (300.0, "300"), (0.004, "0.004"), (1234.567, "1234.57"), (0.0, "0")]
)
def test_money_is_written_as_people_do(amount, text):
    assert money(amount) == text


def test_long_groups_are_cut():
    assert shortened("c1ccccc1") == "c1ccccc1"
    assert shortened("c" * 24) == "c" * 24
    assert shortened("c" * 25) == "c" * 23 + "…"
    assert len(shortened("c" * 40)) == 24
