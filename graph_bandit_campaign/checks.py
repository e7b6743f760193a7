"""Check the values and counts given to a campaign."""

from __future__ import annotations

import math
import operator
from typing import SupportsIndex

import numpy as np


def check_value(identifier: str, value: float) -> float:
    """Return a measured value as a float.

    Raises:
        ValueError: if it is not a finite number.
    """
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not math.isfinite(value):
        raise ValueError(f"Expected a finite number for `{identifier}`. Got {value!r}.")
    return float(value)


def check_integer(name: str, value: SupportsIndex, smallest: int) -> int:
    """Return a whole number as an int.

    Raises:
        ValueError: if it is not an integer, or too small.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = smallest - 1
    if isinstance(value, bool) or number < smallest:
        raise ValueError(f"Expected `{name}` to be an integer >= {smallest}. Got {value!r}.")
    return number
