"""Keep the best of many, whatever the order and the portions in which they come. No torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.beliefs import short_list

Places = NDArray[np.int64]
"""`(n, 2)`. Part and row of molecules in a prepared pool."""
AT_A_TIME = 256  # candidates that are tested before the threshold is looked at again
ROUNDING = 1e-8  # more than keys are rounded by


class Best:
    """The molecules with the largest keys so far, as `agents.beliefs.short_list` would choose them from all.

    Args:
        size: how many are kept.
        seed: chooses among equal keys.
    """

    keys: NDArray[np.float64]
    """`(n,)`. Keys of those that are kept."""
    names: list[str]
    """Their n names."""
    places: Places
    """`(n, 2)`. Part and row of each."""

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._seed = size, seed
        self.keys, self.names, self.places = np.zeros(0), [], np.zeros((0, 2), np.int64)

    @property
    def threshold(self) -> float:
        """Return the key that another molecule needs at least to be kept, up to rounding."""
        return float(self.keys.min()) if len(self.keys) >= self._size > 0 else -np.inf if self._size else np.inf

    def add(self, keys: NDArray[np.float64], names: Sequence[str], places: Places) -> None:
        """Take in n molecules: their `(n,)` keys, none NaN, n names and `(n, 2)` places."""
        self.keys, self.names = np.concatenate([self.keys, keys]), [*self.names, *names]
        self.places = np.concatenate([self.places, places])
        kept = short_list(self.keys, self.names, self._size, self._seed)
        self.keys, self.names, self.places = self.keys[kept], [self.names[k] for k in kept], self.places[kept]

    def merge(self, other: Best) -> None:
        """Take in what another list has kept."""
        self.add(other.keys, other.names, other.places)

    def add_if(
        self,
        keys: NDArray[np.float64],
        names: Sequence[str],
        places: Places,
        test: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
    ) -> None:
        """Take in those of n molecules that pass a test, which is made only where a molecule may be kept.

        Args:
            keys: `(n,)`, none NaN.
            names: n names.
            places: `(n, 2)`.
            test: given the indices of some of them, returns which pass.
        """
        order = np.argsort(-keys, kind="stable")
        for start in range(0, len(order), AT_A_TIME):
            some = order[start : start + AT_A_TIME]
            some = some[keys[some] >= self.threshold - ROUNDING]
            if not len(some):
                return
            some = some[test(some)]
            self.add(keys[some], [names[k] for k in some], places[some])
