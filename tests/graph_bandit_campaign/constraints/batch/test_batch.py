import math

import numpy as np
import pytest

from graph_bandit_campaign.constraints.batch.batch import BatchConstraints


def test_what_belongs_together_comes_together():
    for bad in ({"budget": 5}, {"prices": 1, "budget": 0}, {"prices": 1, "budget": math.nan}):
        with pytest.raises(ValueError, match="`budget` to be positive"):
            BatchConstraints(**bad)
    for bad in ({"groups": ["a"]}, {"at_most": 1}):
        with pytest.raises(ValueError, match="`groups` and `at_most` together"):
            BatchConstraints(**bad)
    with pytest.raises(ValueError, match="at_most"):
        BatchConstraints(groups=["a"], at_most=0)


def test_graphs_without_a_group_are_groups_of_their_own():
    numbers = BatchConstraints(groups=["a", "", "b", "", "a"], at_most=1).group_numbers(5)
    assert numbers[0] == numbers[4]
    assert len(np.unique(numbers)) == 4


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
