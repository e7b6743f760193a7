"""The best products by sums over slots and pairs, against a list of all products."""

from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.products import Scores, find_best


def random_scores(sizes, seed):
    generator = np.random.default_rng(seed)
    slots = tuple(generator.normal(size=size).astype(np.float32) for size in sizes)
    pairs = (generator.normal(size=(one, other)).astype(np.float32) for one, other in combinations(sizes, 2))
    return Scores(slots, tuple(pairs))


def every_product(sizes):
    return np.array([*product(*map(range, sizes))], np.int64)


SIZES = st.lists(st.integers(1, 7), min_size=2, max_size=4)


@settings(max_examples=60, deadline=None)
@given(SIZES, st.integers(1, 40), st.integers(1, 60), st.integers(0, 1000))
def test_what_is_called_exact_is_the_best_of_all(sizes, count, width, seed):
    scores = random_scores(sizes, seed)
    every = np.sort(scores.of(every_product(sizes)))[::-1]
    best = find_best(scores, count, width)
    assert len(np.unique(best.tuples, axis=0)) == len(best.tuples)
    np.testing.assert_allclose(scores.of(best.tuples), best.means, atol=1e-5)
    assert (np.diff(best.means) <= 0).all()
    if best.is_exact:
        np.testing.assert_allclose(best.means, every[:count], atol=1e-5)


def test_a_narrow_beam_says_that_it_may_have_missed_some():
    scores = random_scores((9, 8, 7), seed=0)
    best = find_best(scores, 100, width=2)
    assert len(best.tuples) == 18
    assert not best.is_exact


def test_bounds_keep_the_best_although_few_beginnings_are_followed():
    """Scores that are sums over slots alone, as of a library without interactions."""
    generator = np.random.default_rng(0)
    sizes = (30, 40, 50)
    slots = tuple(generator.normal(size=size).astype(np.float32) for size in sizes)
    nothing = tuple(np.zeros(pair, np.float32) for pair in combinations(sizes, 2))
    best = find_best(Scores(slots, nothing), 100, width=100)
    assert best.is_exact
    every = np.sort(Scores(slots, nothing).of(every_product(sizes)))[::-1]
    np.testing.assert_allclose(best.means, every[:100], atol=1e-5)


def test_products_are_rated_in_parts_as_at_once(monkeypatch):
    scores = random_scores((6, 7, 8), seed=3)
    whole = find_best(scores, 20, width=30)
    monkeypatch.setattr("agents.products.search.CHUNK", 10)
    parts = find_best(scores, 20, width=30)
    np.testing.assert_array_equal(whole.tuples, parts.tuples)
    assert whole.is_exact == parts.is_exact
