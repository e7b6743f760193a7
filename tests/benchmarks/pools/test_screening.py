"""Pools that are measured a batch at a time: scores by brute force, and choices against the rules."""

import types
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.molecules import some_molecules

from benchmarks.pools.screening import Plan, play, share_of_top, share_of_way, simple_regret

POOL = some_molecules(60)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.data())
def test_the_share_of_the_top_is_that_of_a_multiset(values, data):
    order = data.draw(st.permutations(range(len(values))))[: data.draw(st.integers(0, len(values)))]
    n = data.draw(st.integers(1, len(values)))
    common = Counter(sorted(values)[-n:]) & Counter(values[k] for k in order)
    assert share_of_top(values, order, n) == common.total() / n


@pytest.mark.parametrize("n", [0, 4])
def test_the_top_is_some_of_the_pool(n):
    with pytest.raises(ValueError, match=f"Expected `n` from 1 to 3. Got {n}"):
        share_of_top([1.0, 2.0, 3.0], [0], n)


def test_regret_is_against_the_best_of_the_pool():
    values, order = np.array([1.0, 7.0, 3.0, 5.0]), [0, 2, 3, 1]
    best = [max(values[k] for k in order[: t + 1]) for t in range(4)]
    assert simple_regret(values, order).tolist() == [7.0 - value for value in best]


def test_there_is_no_way_to_go_from_the_best():
    values = np.array([1.0, 5.0, 3.0])
    assert share_of_way(values, np.array([1, 0]), start=1) == 1.0
    assert share_of_way(values, np.array([0, 2]), start=1) == 0.5


@pytest.mark.parametrize("chosen", [[0, 1, 2], [0, 0, 1, 2], [0, 1, 2, 60], [-1, 0, 1, 2], "measured"])
def test_a_choice_against_the_rules_is_refused(chosen):
    def choose(measured, values, count):
        return measured if chosen == "measured" else chosen

    player = types.SimpleNamespace(begin=lambda graphs, seed: None, choose=choose)
    with pytest.raises(ValueError, match="Expected 4 different graphs that were not measured"):
        play(POOL, Plan(4, 4, 1), player, 1)


def test_a_plan_that_is_larger_than_the_pool_is_refused():
    with pytest.raises(ValueError, match="Expected at most 60 measurements, one a graph. Got 62"):
        play(POOL, Plan(6, 4, 14), None, 1)
