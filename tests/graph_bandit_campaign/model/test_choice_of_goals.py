"""Several goals with prices, a budget and caps."""

import numpy as np
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints

MOLECULES = some_molecules(24)
IDS = MOLECULES.ids


def begin():
    campaign = Campaign(MOLECULES, "molecule-ucb:short_list=20", goals=[Goal("a"), Goal("b", "minimize")])
    for name, period in (("a", 5), ("b", 3)):
        campaign.tell_many({key: float(k % period) for k, key in enumerate(IDS[:8])}, goal=name)
    return campaign


def test_a_budget_at_one_price_and_caps_hold():
    groups = ["x", "y"] * 12
    constraints = BatchConstraints(prices=2.0, budget=9.0, groups=groups, at_most=3)
    chosen = [IDS.index(suggestion.id) for suggestion in begin().ask(6, constraints=constraints)]
    assert len(set(chosen)) == 4
    assert max(sum(groups[k] == name for k in chosen) for name in "xy") <= 3


def test_prices_that_differ_are_weighed_and_a_budget_holds():
    prices = np.where(np.arange(24) % 2, 1000.0, 1.0)
    assert any(prices[IDS.index(suggestion.id)] > 1 for suggestion in begin().ask(6))
    assert all(
        prices[IDS.index(suggestion.id)] == 1
        for suggestion in begin().ask(6, constraints=BatchConstraints(prices=prices))
    )
    prices = np.linspace(1, 2, 24)
    chosen = [IDS.index(each.id) for each in begin().ask(6, constraints=BatchConstraints(prices=prices, budget=4.5))]
    spent = prices[chosen].sum()
    assert 4.5 - prices[[k for k in range(8, 24) if k not in chosen]].min() < spent <= 4.5
