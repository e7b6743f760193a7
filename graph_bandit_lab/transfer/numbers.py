"""Pack arrays of numbers so that a general compressor finds little left to do. Nothing is rounded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
"""Numbers of 64 bits, whatever they stand for: two values are equal if all bits are."""


def to_planes(bits: Bits) -> NDArray[np.uint8]:
    """Split numbers into planes, one of the lowest bytes, one of the next, and so on; planes of zeros are left out.

    Returns:
        `(P, N)`, P from 0 to 8.
    """
    planes = bits.astype("<u8").view(np.uint8).reshape(-1, 8).T
    used = np.flatnonzero(planes.any(axis=1))
    return np.ascontiguousarray(planes[: used[-1] + 1 if len(used) else 0])


def from_planes(planes: NDArray[np.uint8]) -> Bits:
    """Read what `to_planes` wrote."""
    whole = np.zeros((planes.shape[1], 8), np.uint8)
    whole[:, : len(planes)] = planes.T
    return whole.view("<u8").ravel().astype(np.uint64)


def to_changes(bits: Bits, context: NDArray[np.int64]) -> tuple[NDArray[np.uint8], Bits]:
    """Keep the numbers that differ from the one before in the same context.

    Args:
        bits: `(N,)`.
        context: `(N,)`. Numbers of equal context are expected to be equal for long.

    Returns:
        Packed flags: which numbers differ, sorted by context, without the first of each; and the first of each context
        and those that differ, in that order.
    """
    order, first = _sort(context)
    values = bits[order]
    differs = np.append(True, values[1:] != values[:-1])[: len(values)]
    return np.packbits(differs[~first]), values[first | differs]


def find_changes(flags: NDArray[np.uint8], context: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return where each number stands among those that `to_changes` kept, `(N,)`, and how many it kept."""
    order, kept = _sort(context)
    kept[~kept] = np.unpackbits(flags, count=int((~kept).sum())).astype(np.bool_)
    places = np.empty(len(context), np.int64)
    places[order] = np.cumsum(kept) - 1
    return places, int(kept.sum())


def to_residuals(bits: Bits, predicted: NDArray[np.float64]) -> Bits:
    """Return how many floats lie between each float, given by its bits, and its prediction: 0, -1, 1 as 0, 1, 2."""
    distance = _rank(bits) - _rank(predicted.view(np.uint64))  # wraps around, as does the way back
    return (distance << 1 ^ distance >> 63).view(np.uint64)


def from_residuals(residuals: Bits, predicted: NDArray[np.float64]) -> Bits:
    """Return the bits of the floats of which `to_residuals` made residuals."""
    distance = (residuals >> np.uint64(1)).view(np.int64) ^ -(residuals & np.uint64(1)).view(np.int64)
    rank = distance + _rank(predicted.view(np.uint64))
    return (rank ^ (rank >> 63 & np.iinfo(np.int64).max)).view(np.uint64)


def _rank(bits: Bits) -> NDArray[np.int64]:
    """Return integers in the order of the floats that have these bits."""
    signed = bits.view(np.int64)
    ranks: NDArray[np.int64] = signed ^ (signed >> 63 & np.iinfo(np.int64).max)
    return ranks


def _sort(context: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the stable order by context, and which is the first of its context in that order."""
    order = np.argsort(context, kind="stable")
    ordered = context[order]
    return order, np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
