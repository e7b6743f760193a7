"""Keep the largest values, such that parts of a set give the same list as the whole."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIGITS = 9  # to which values are rounded: smaller differences are rounding errors of another order of summation


def short_list(values: NDArray[np.float64], names: Sequence[str], size: int, seed: int) -> NDArray[np.int64]:
    """Return the places of the largest values, in the order of the set.

    Values are rounded to nine decimals. Of equal ones those with the smallest digest of seed and name are kept. So the
    result does not depend on where the others stand: the short list of the short lists of some parts is that of all.

    Args:
        values: `(n,)`, no NaN; -inf for what shall not be kept.
        names: n different names.
        size: how many places to return, fewer if there are fewer values.
        seed: chooses among equal values.

    Returns:
        `(min(size, n),)` int64, in increasing order.

    Raises:
        ValueError: if there is not one name for each value, or a value is NaN.
    """
    if len(names) != len(values) or np.isnan(values).any():
        raise ValueError(
            f"Expected {len(values)} names, and values that are numbers. Got {len(names)} names, and "
            f"{int(np.isnan(values).sum())} values that are NaN."
        )
    if size >= len(values):
        return np.arange(len(values))
    rounded = np.round(values, DIGITS)
    least = np.partition(rounded, len(values) - size)[len(values) - size] if size else np.inf
    sure, equal = np.flatnonzero(rounded > least), np.flatnonzero(rounded == least)
    if len(sure) + len(equal) > size:
        equal = equal[order_by_digest([names[k] for k in equal.tolist()], seed)][: size - len(sure)]
    return np.sort(np.concatenate([sure, equal]))


def order_by_digest(names: Sequence[str], seed: int) -> NDArray[np.int64]:
    """Return the places of n different names in the order of the digests of seed and name, `(n,)`."""
    digests = [hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest() for name in names]
    return np.array(sorted(range(len(names)), key=digests.__getitem__), np.int64)
