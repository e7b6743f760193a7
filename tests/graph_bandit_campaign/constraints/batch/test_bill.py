import math

from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.constraints.batch.bill import Bill
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


def test_what_rounding_takes_off_a_budget_is_not_owed():  # 0.1 + 0.1 + 0.1 > 0.3
    found = bill(["a", "b", "c"], BatchConstraints(prices=0.1, budget=0.3), n=3, price="0.1", budget=0.3)
    assert "cost 0.3 in all, of a budget of 0.3: 0 is left." in found.sentence()
