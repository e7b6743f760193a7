"""Keep the best of many, whatever the order and the portions in which they come. No torch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
AT_A_TIME = 256  # candidates that are tested before the threshold is looked at again


class Best:
    """The molecules with the largest keys so far.

    Args:
        size: how many are kept.
    """

    keys: NDArray[np.float64]
    """`(n,)`. Keys of those that are kept."""
    ties: NDArray[np.uint64]
    """`(n,)`. Numbers that decide between equal keys: the smaller one is better."""
    places: Places
    """`(n, 2)`. Part and row of each."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.keys, self.ties, self.places = np.zeros(0), np.zeros(0, np.uint64), np.zeros((0, 2), np.int64)

    @property
    def threshold(self) -> float:
        """Return the key that another molecule needs at least to be kept."""
        return float(self.keys.min()) if len(self.keys) == self._size else -np.inf

    def add(self, keys: NDArray[np.float64], ties: NDArray[np.uint64], places: Places) -> None:
        """Take in n molecules: their `(n,)` keys, none NaN, `(n,)` ties and `(n, 2)` places."""
        self.keys = np.concatenate([self.keys, keys])
        self.ties = np.concatenate([self.ties, ties])
        self.places = np.concatenate([self.places, places])
        if len(self.keys) > self._size:
            kept = np.lexsort((self.ties, -self.keys))[: self._size]
            self.keys, self.ties, self.places = self.keys[kept], self.ties[kept], self.places[kept]

    def merge(self, other: Best) -> None:
        """Take in what another list has kept."""
        self.add(other.keys, other.ties, other.places)

    def add_if(
        self,
        keys: NDArray[np.float64],
        ties: NDArray[np.uint64],
        places: Places,
        test: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
    ) -> None:
        """Take in those of n molecules that pass a test, which is made only where a molecule would be kept.

        Args:
            keys: `(n,)`, none NaN.
            ties: `(n,)`.
            places: `(n, 2)`.
            test: given the indices of some of them, returns which pass.
        """
        order = np.lexsort((ties, -keys))
        for start in range(0, len(order), AT_A_TIME):
            some = order[start : start + AT_A_TIME]
            some = some[keys[some] >= self.threshold]
            if not len(some):
                return
            some = some[test(some)]
            self.add(keys[some], ties[some], places[some])
