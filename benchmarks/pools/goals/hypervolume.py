"""The hypervolume of values of two goals: the area of what they beat."""

from __future__ import annotations

import numpy as np

from benchmarks.pools.screening import Floats


def hypervolume(values: Floats, reference: Floats) -> float:
    """Return the area between a reference and the front of some points, as the sum of the steps of a staircase.

        area of the union over points v of [r_1, v_1] x [r_2, v_2]

    Args:
        values: `(n, 2)`, large ones are wanted. Points that do not beat the reference in both count nothing.
        reference: `(2,)`, r.
    """
    gains = values - reference
    gains = gains[(gains > 0).all(axis=1)]
    area, height = 0.0, 0.0
    for width, top in gains[np.lexsort(-gains.T[::-1])].tolist():  # the widest first
        area += width * max(top - height, 0.0)
        height = max(height, top)
    return area


def share_of_hypervolume(values: Floats, measured: Floats, reference: Floats) -> float:
    """Return the hypervolume of what was measured as a share of that of the pool; units of the values do not matter.

    Args:
        values: `(K, 2)`, values of the pool.
        measured: `(n, 2)`, those that were measured.
        reference: `(2,)`. At least one value of the pool beats it in both.
    """
    return hypervolume(measured, reference) / hypervolume(values, reference)
