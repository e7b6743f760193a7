"""Several goals: a budget at one price and caps hold, and prices that differ are refused."""

import numpy as np
import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.plates import Plate

MOLECULES = some_molecules(24)
IDS = MOLECULES.ids


def begin():
    campaign = Campaign(MOLECULES, "molecule-ucb:short_list=20", goals=[Goal("a"), Goal("b", "minimize")])
    for name, period in (("a", 5), ("b", 3)):
        campaign.tell_many({key: float(k % period) for k, key in enumerate(IDS[:8])}, goal=name)
    return campaign


def test_a_budget_at_one_price_and_caps_hold():
    groups = ["x", "y"] * 12
    plate = Plate(prices=2.0, budget=9.0, groups=groups, at_most=3)
    chosen = [IDS.index(suggestion.id) for suggestion in begin().ask(6, plate=plate)]
    assert len(set(chosen)) == 4
    assert max(sum(groups[k] == name for k in chosen) for name in "xy") <= 3


def test_prices_that_differ_count_for_a_budget_alone():
    prices = np.linspace(1, 2, 24)
    free = [suggestion.id for suggestion in begin().ask(3)]
    assert [each.id for each in begin().ask(3, plate=Plate(prices=prices, budget=9.0, budget_only=True))] == free
    few = begin().ask(3, plate=Plate(prices=prices, budget=3.0, budget_only=True))
    assert sum(prices[IDS.index(suggestion.id)] for suggestion in few) <= 3.0


def test_prices_that_differ_are_refused():
    with pytest.raises(ValueError, match="Expected one goal, or equal prices"):
        begin().ask(3, plate=Plate(prices=np.linspace(1, 2, 24)))
