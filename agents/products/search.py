"""Find the best products of a library that nobody enumerates, by bounds on sums over slots and pairs of slots."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from agents.products.process import Scores, Tuples

WIDTH = 4000  # beginnings of products that are followed from slot to slot
CHUNK = 1 << 22  # products that are rated at a time

Numbers = NDArray[np.float32]


def find_best(scores: Scores, count: int, width: int = WIDTH) -> Tuples:
    """Return the products with the largest scores, `(n, S)`, best first.

    Products are built slot by slot, small slots first. At each slot the beginnings with the largest bound are kept: the
    score so far, and the most that the slots to come could add. A good product is missed only if more than `width`
    beginnings have a larger bound.

    Args:
        scores: sums over slots and pairs of slots.
        count: how many products are wanted.
        width: how many beginnings are kept.
    """
    sizes = scores.sizes
    order = np.argsort(sizes, kind="stable").tolist()
    tuples, sums = np.zeros((1, 0), np.int64), np.zeros(1, np.float32)
    for depth, slot in enumerate(order):
        most = width if depth < len(order) - 1 else count
        constant, ahead = _most_ahead(scores, order, depth)
        rows = max(1, CHUNK // sizes[slot])
        kept: tuple[Tuples, Numbers, Numbers] = np.zeros((0, depth + 1), np.int64), sums[:0], sums[:0]
        for start in range(0, len(tuples), rows):
            begun = tuples[start : start + rows]
            reached = sums[start : start + rows, None] + scores.parts[slot,]
            bounds = np.full((len(begun), 1), constant, np.float32) + ahead[-1]
            for k, earlier in enumerate(order[:depth]):
                reached += _pair(scores, earlier, slot)[begun[:, k]]
                bounds += ahead[k][begun[:, k], None]
            every = (bounds + reached).reshape(-1)
            some = _largest(every, most)
            mine, blocks = np.divmod(some, sizes[slot])
            longer = np.concatenate([kept[0], np.column_stack([begun[mine], blocks])])
            sums_of, bounds_of = np.append(kept[1], reached.reshape(-1)[some]), np.append(kept[2], every[some])
            some = _largest(bounds_of, most)
            kept = longer[some], sums_of[some], bounds_of[some]
        tuples, sums, _ = kept
    return tuples[np.argsort(-sums, kind="stable")][:, np.argsort(order)]


def _largest(bounds: Numbers, count: int) -> NDArray[np.int64]:
    """Return the places of the largest bounds."""
    every = len(bounds) <= count
    return np.arange(len(bounds)) if every else np.argpartition(bounds, len(bounds) - count - 1)[-count:]


def _most_ahead(scores: Scores, order: Sequence[int], depth: int) -> tuple[float, list[Numbers]]:
    """Return the most that slots after `depth` can add: a constant, and a number for each block of each slot so far.

    The first slot takes in their own scores: max_b (u(b) + v(a, b)) is less than the sum of both maxima.
    """
    ahead = order[depth + 1 :]
    constant = sum(float(_pair(scores, s, t).max()) for s, t in combinations(ahead, 2))
    of_slots = []
    for k, slot in enumerate(order[: depth + 1]):
        most = np.zeros(scores.sizes[slot], np.float32)
        for later in ahead:
            pair = _pair(scores, slot, later)
            most += (pair + scores.parts[later,] if k == 0 else pair).max(axis=1)
        of_slots.append(most)
    return constant, of_slots


def _pair(scores: Scores, first: int, second: int) -> Numbers:
    """Return what pairs of blocks of two slots add, `(B_first, B_second)`."""
    return scores.parts[first, second] if first < second else scores.parts[second, first].T
