"""The best products by sums over slots and pairs, against a list of all products."""

from itertools import combinations, product
from math import prod

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.products import Scores, find_best


def random_scores(sizes, seed, interaction=1.0):
    generator, slots = np.random.default_rng(seed), range(len(sizes))
    terms = [*combinations(slots, 1), *combinations(slots, 2)]
    parts = {term: generator.normal(size=[sizes[s] for s in term]).astype(np.float32) for term in terms}
    return Scores({term: part * interaction ** (len(term) - 1) for term, part in parts.items()})


def best_means(scores, sizes, count):
    return np.sort(scores.of(np.array([*product(*map(range, sizes))], np.int64)))[::-1][:count]


SIZES = st.lists(st.integers(1, 7), min_size=2, max_size=4)


@settings(max_examples=60, deadline=None)
@given(SIZES, st.integers(1, 40), st.integers(1, 60), st.integers(0, 1000))
def test_with_a_wide_beam_they_are_the_best_of_all_and_always_different_and_in_order(sizes, count, width, seed):
    scores = random_scores(sizes, seed)
    best = find_best(scores, count, width)
    assert len(np.unique(best, axis=0)) == len(best)
    assert (np.diff(scores.of(best)) <= 1e-5).all()
    if width >= prod(sorted(sizes)[:-1]):
        np.testing.assert_allclose(scores.of(best), best_means(scores, sizes, count), atol=1e-5)


def test_bounds_keep_the_best_although_few_beginnings_are_followed(monkeypatch):
    """Scores that are sums over slots alone, as of a library without interactions; in parts as at once."""
    sizes = (30, 40, 50)
    scores = random_scores(sizes, 0, interaction=0.0)
    best = find_best(scores, 100, width=100)
    np.testing.assert_allclose(scores.of(best), best_means(scores, sizes, 100), atol=1e-5)
    monkeypatch.setattr("agents.products.process.CHUNK", 60)
    np.testing.assert_array_equal(find_best(scores, 100, width=100), best)
