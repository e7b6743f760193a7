"""Find which likely failures have to come back, where too few other molecules are left for a batch. No torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SOUND = -1.0  # stands for the probability of all that are not likely to fail


class Spare(NamedTuple):
    """A molecule that may be chosen, in the order in which molecules come back."""

    probability: float
    """Probability to fail; `SOUND` if it is not likely to fail."""
    part: int
    """Number of its part in the pool."""
    row: int
    """Row in the part."""
    group: str = ""
    """Its group; empty if it has none."""
    is_payable: bool = True
    """Whether the budget pays for it."""


class Spares:
    """The molecules on which it depends how many likely failures a batch needs, of all that were added.

    Without them a batch of `count` needs: so many molecules, no more than `at_most` of which are counted of one group,
    and one that the budget pays for. `spare_likely` asks it for a pool in memory, too.

    Args:
        count: how many molecules the batch is to hold.
        at_most: how many of one group it may hold; None: any number.
    """

    def __init__(self, count: int, at_most: int | None = None) -> None:
        self._count, self._at_most = count, at_most or count
        self._kept: list[Spare] = []
        self._is_enough = False

    def add(self, molecules: Iterable[Spare]) -> None:
        """Take in molecules, in any order and in any portions."""
        every = sorted([*self._kept, *molecules])
        groups, places, is_paid = Counter[str](), 0, False
        self._kept, self._is_enough = [], False
        for number, spare in enumerate(every, start=1):
            has_place = places < self._count and (not spare.group or groups[spare.group] < self._at_most)
            if number <= self._count or has_place or (spare.is_payable and not is_paid):
                self._kept.append(spare)
            groups[spare.group] += 1
            places, is_paid = places + has_place, is_paid or spare.is_payable
            if min(number, places) >= self._count and is_paid:
                self._is_enough = True
                return

    def merge(self, other: Spares) -> None:
        """Take in what another object has kept."""
        self.add(other._kept)

    @property
    def last(self) -> Spare | None:
        """Return the last molecule that has to come back, after all likely failures before it; None: none has to."""
        if not self._is_enough:
            return Spare(2.0, 0, 0)  # after all others
        return self._kept[-1] if self._kept[-1].probability > SOUND else None


def come_back(probability: NDArray[np.float64], places: NDArray[np.int64], last: Spare | None) -> NDArray[np.bool_]:
    """Return which of n molecules come back although they are likely to fail, `(n,)`.

    Args:
        probability: `(n,)`. Probability of each to fail.
        places: `(n, 2)`. Part and row of each.
        last: the last one that comes back; None: none does.
    """
    keys = zip(probability.tolist(), *places.T.tolist(), strict=True)
    return np.array([last is not None and key <= last[:3] for key in keys], np.bool_)
