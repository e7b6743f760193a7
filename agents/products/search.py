"""Find the best products of a library that nobody enumerates, by bounds on sums over slots and pairs of slots."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.products.process import Scores, Tuples

WIDTH = 4000  # beginnings of products that are followed from slot to slot
CHUNK = 1 << 22  # products that are rated at a time

Numbers = NDArray[np.float32]


class Best(NamedTuple):
    """The best products that were found."""

    tuples: Tuples
    """`(n, S)`, their blocks, best first."""
    means: Numbers
    """`(n,)`, their scores."""
    is_exact: bool
    """Whether these are the best of all products, as the bounds of the others prove."""


def find_best(scores: Scores, count: int, width: int = WIDTH) -> Best:
    """Return the products with the largest scores.

    Products are built slot by slot, small slots first. At each slot the beginnings with the largest bound are kept: the
    score so far, and the most that the slots to come could add.

    Args:
        scores: sums over slots and pairs of slots.
        count: how many products are wanted.
        width: how many beginnings are kept.
    """
    order = np.argsort(scores.sizes, kind="stable").tolist()
    tuples, sums, cut = np.zeros((1, 0), np.int64), np.zeros(1, np.float32), -np.inf
    for depth, slot in enumerate(order):
        is_last = depth == len(order) - 1
        top = _Top(count if is_last else width, depth + 1)
        ahead = _most_ahead(scores, order, depth)
        rows = max(1, CHUNK // scores.sizes[slot])
        for start in range(0, len(tuples), rows):
            begun = tuples[start : start + rows]
            reached = sums[start : start + rows, None] + scores.slots[slot]
            bounds = np.full((len(begun), 1), ahead.constant, np.float32) + ahead.of_slots[-1]
            for k, earlier in enumerate(order[:depth]):
                reached += _pair(scores, earlier, slot)[begun[:, k]]
                bounds += ahead.of_slots[k][begun[:, k], None]
            top.add(begun, reached, reached if is_last else bounds + reached)
        tuples, sums = top.tuples, top.sums
        cut = cut if is_last else max(cut, top.cut)
    best = np.argsort(-sums, kind="stable")
    columns = np.argsort(order)
    is_exact = len(best) == 0 or bool(sums[best[-1]] >= cut) or cut == -np.inf
    return Best(tuples[best][:, columns], sums[best], is_exact)


class _Top:
    """The beginnings with the largest bounds so far.

    Args:
        kept: how many are kept.
        slots: how many slots they have.
    """

    def __init__(self, kept: int, slots: int) -> None:
        self._kept = kept
        self.tuples, self.sums = np.zeros((0, slots), np.int64), np.zeros(0, np.float32)
        self._bounds = np.zeros(0, np.float32)
        self.cut = -np.inf  # the largest bound of those that were not kept

    def add(self, begun: Tuples, reached: Numbers, bounds: Numbers) -> None:
        """Add every beginning with every block of the next slot.

        Args:
            begun: `(n, S - 1)`, beginnings.
            reached: `(n, B)`, scores with each block.
            bounds: `(n, B)`, the most that their products can have.
        """
        some = self._select(bounds.reshape(-1))
        mine, blocks = np.divmod(some, bounds.shape[1])
        tuples = np.concatenate([self.tuples, np.column_stack([begun[mine], blocks])])
        sums = np.concatenate([self.sums, reached.reshape(-1)[some]])
        every = np.concatenate([self._bounds, bounds.reshape(-1)[some]])
        kept = self._select(every)
        self.tuples, self.sums, self._bounds = tuples[kept], sums[kept], every[kept]

    def _select(self, bounds: Numbers) -> NDArray[np.int64]:
        """Return the places of the largest bounds, and remember the largest of the others."""
        if len(bounds) <= self._kept:
            return np.arange(len(bounds))
        places = np.argpartition(bounds, len(bounds) - self._kept - 1)  # the next largest comes right before the kept
        self.cut = max(self.cut, float(bounds[places[-self._kept - 1]]))
        return places[-self._kept :]


class _Ahead(NamedTuple):
    """The most that slots to come can add: a constant, and a number for each block of each slot so far."""

    constant: float
    of_slots: Sequence[Numbers]


def _most_ahead(scores: Scores, order: Sequence[int], depth: int) -> _Ahead:
    """Return the most that the slots after `depth` can add.

    The first slot takes in their own scores: max_b (u(b) + v(a, b)) is less than the sum of both maxima.
    """
    ahead = order[depth + 1 :]
    constant = sum(float(_pair(scores, s, t).max()) for s, t in combinations(ahead, 2))
    of_slots = []
    for k, slot in enumerate(order[: depth + 1]):
        most = np.zeros(scores.sizes[slot], np.float32)
        for later in ahead:
            pair = _pair(scores, slot, later)
            most += (pair + scores.slots[later] if k == 0 else pair).max(axis=1)
        of_slots.append(most)
    return _Ahead(constant, of_slots)


def _pair(scores: Scores, first: int, second: int) -> Numbers:
    """Return what pairs of blocks of two slots add, `(B_first, B_second)`."""
    pairs = dict(zip(combinations(range(len(scores.slots)), 2), scores.pairs, strict=True))
    return pairs[first, second] if first < second else pairs[second, first].T
