"""Keep the best of many, whatever the order and the portions in which they come. No torch."""

from __future__ import annotations

from collections import Counter
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

    Of one group there are at most so many. Since a batch holds no more of it either, the best that there are make any
    batch that the pool makes.

    Args:
        size: how many are kept.
        seed: chooses among equal keys.
        at_most: how many of one group are kept; None: any number.
    """

    keys: NDArray[np.float64]
    """`(n,)`. Keys of those that are kept."""
    names: list[str]
    """Their n names."""
    places: Places
    """`(n, 2)`. Part and row of each."""

    def __init__(self, size: int, seed: int, at_most: int | None = None) -> None:
        self._size, self._seed, self._at_most, self._groups = size, seed, at_most, list[str]()
        self.keys, self.names, self.places = np.zeros(0), [], np.zeros((0, 2), np.int64)

    def add(
        self,
        keys: NDArray[np.float64],
        names: Sequence[str],
        places: Places,
        groups_of: Callable[[list[int]], Sequence[str | None]],
    ) -> None:
        """Take in n molecules.

        Args:
            keys: `(n,)`, none NaN.
            names: n names.
            places: `(n, 2)`.
            groups_of: given the indices of some of them, which may be kept, returns their groups: an empty text for one
                without a group, None for one that is not to be kept.
        """
        order = np.argsort(-keys, kind="stable")
        for start in range(0, len(order), AT_A_TIME):
            least = float(self.keys.min()) - ROUNDING if len(self.keys) >= self._size else -np.inf
            some = order[start : start + AT_A_TIME]
            some = some[keys[some] >= least].tolist()
            if not some:
                return
            found = [(k, group) for k, group in zip(some, groups_of(some), strict=True) if group is not None]
            index = np.array([k for k, _ in found], np.int64)
            self._take(keys[index], [names[k] for k, _ in found], places[index], [group for _, group in found])

    def merge(self, other: Best) -> None:
        """Take in what another list has kept."""
        self._take(other.keys, other.names, other.places, other._groups)

    def _take(self, keys: NDArray[np.float64], names: Sequence[str], places: Places, groups: Sequence[str]) -> None:
        self.keys, self.places = np.concatenate([self.keys, keys]), np.concatenate([self.places, places])
        self.names, self._groups = [*self.names, *names], [*self._groups, *groups]
        if self._at_most is not None:
            for group, count in Counter(filter(None, self._groups)).items():
                if count > self._at_most:
                    own = np.flatnonzero([each == group for each in self._groups])
                    best = short_list(self.keys[own], [self.names[k] for k in own.tolist()], self._at_most, self._seed)
                    self._keep(np.setdiff1d(np.arange(len(self.keys)), np.delete(own, best)))
        self._keep(short_list(self.keys, self.names, self._size, self._seed))

    def _keep(self, index: NDArray[np.int64]) -> None:
        self.keys, self.places = self.keys[index], self.places[index]
        self.names, self._groups = [self.names[k] for k in index], [self._groups[k] for k in index]
