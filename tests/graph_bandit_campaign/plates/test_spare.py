"""A batch without molecules that are likely to fail."""

import numpy as np

from graph_bandit_campaign.plates import Plate, spare_likely

PROBABILITY = np.array([0.02] * 8 + [0.9, 0.8, 0.7, 0.99])
EVERY, LIKELY = np.full(12, True), PROBABILITY > 0.5


def kept(count, plate=None, mask=EVERY):
    return np.flatnonzero(spare_likely(count, mask, LIKELY, PROBABILITY, plate or Plate())).tolist()


def test_only_as_many_come_back_as_the_batch_needs_the_least_likely_first():
    assert kept(8) == list(range(8))
    assert kept(10) == [*range(8), 9, 10]
    assert kept(1, mask=EVERY & LIKELY) == [10]


def test_caps_and_prices_that_are_not_known_bring_back_no_more_than_is_missing():
    caps = Plate(groups=["one"] * 8 + list("abcd"), at_most=3)
    assert kept(4, caps) == [*range(8), 10]
    prices = np.ones(12)
    prices[3:8] = np.nan
    assert kept(4, Plate(prices=prices)) == [*range(8), 10]
