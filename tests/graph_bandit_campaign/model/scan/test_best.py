"""The best of many do not depend on the portions in which they come."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agents.beliefs import short_list
from graph_bandit_campaign.model.scan.best import Best

SEED = 3


def everything(seed, count):
    generator = np.random.default_rng(seed)
    keys = generator.integers(0, max(2, count // 3), count).astype(np.float64)  # many are equal
    places = np.stack([np.arange(count) % 3, np.arange(count)], axis=1)
    return keys, [f"name{k}" for k in range(count)], places


def among(names, portion):
    return [names[k] for k in portion]


def kept(best):
    return sorted(map(tuple, best.places.tolist()))


@given(st.integers(0, 1000), st.integers(1, 40), st.integers(1, 1500), st.lists(st.integers(0, 1500), max_size=5))
def test_any_portions_in_any_order_keep_the_largest_keys(seed, size, count, cuts):
    keys, names, places = everything(seed, count)
    plain = short_list(keys, names, size, SEED)
    portions = np.split(np.arange(count), sorted(cuts))
    lists = []
    for portion in reversed(portions):
        lists.append(Best(size, SEED))
        lists[-1].add_if(keys[portion], among(names, portion), places[portion], lambda some: np.full(len(some), True))
    merged = Best(size, SEED)
    for each in lists:
        merged.merge(each)
    assert kept(merged) == sorted(map(tuple, places[plain].tolist()))


@given(st.integers(0, 1000), st.integers(1, 40), st.integers(1, 1500))
def test_those_that_fail_the_test_leave_their_place_to_others(seed, size, count):
    keys, names, places = everything(seed, count)
    passes = np.random.default_rng(seed + 1).random(count) < 0.3
    passing = np.flatnonzero(passes)
    plain = passing[short_list(keys[passing], among(names, passing), size, SEED)]
    best = Best(size, SEED)
    best.add_if(keys, names, places, lambda some: passes[some])
    assert kept(best) == sorted(map(tuple, places[plain].tolist()))
