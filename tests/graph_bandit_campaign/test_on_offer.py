"""Which graphs of a campaign can be suggested."""

import numpy as np
import pytest
from support.molecules import some_molecules

from graph_bandit_campaign import Campaign

POOL = some_molecules(10)


def test_graphs_are_on_offer_until_they_are_measured_pending_failed_or_vetoed():
    campaign = Campaign(POOL, "random", offered=[True] * 9 + [False])
    campaign.tell(POOL.ids[0], 1.0)
    campaign.tell_failed(POOL.ids[1])
    campaign.veto(POOL.ids[2])
    (asked,) = campaign.ask(1, among=[False] * 3 + [True] * 7)
    left = {*range(3, 9)} - {POOL.ids.index(asked.id)}
    assert set(np.flatnonzero(campaign.on_offer())) == left
    assert set(np.flatnonzero(campaign.on_offer([True] * 5 + [False] * 5))) == left & {3, 4}
    campaign.withdraw(asked.id)
    assert set(np.flatnonzero(campaign.on_offer())) == {*range(3, 9)}


def test_refuses_a_mask_of_another_length():
    with pytest.raises(ValueError, match="`among`"):
        Campaign(POOL, "random").on_offer([True] * 3)
