"""Check the ids, values and counts given to a campaign."""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Iterable
from typing import SupportsIndex

import numpy as np

from agents import LARGEST_REWARD

SMALLEST = 1e-100  # of a value other than 0
WHOLE = re.compile(r"\d{1,15}(?:\.0+)?")  # an id that spreadsheets take for a number


class TooFewLeftError(ValueError):
    """Fewer graphs can be chosen than are wanted.

    Args:
        message: says so, and what to do.
        left: how many can be chosen.
    """

    def __init__(self, message: str, left: int) -> None:
        super().__init__(message)
        self.left = left


def nearest_id(identifier: str, ids: Iterable[str]) -> str:
    """Return the id that was probably meant; "" if there is none.

    An id with other digits is another graph, however alike the two look: `LX-03999` is not offered for `LX-99999`. One
    that is the same number is offered, as `001` for `1` or `1.0`, which spreadsheets make of it.

    Args:
        identifier: an unknown id.
        ids: all ids.
    """
    if WHOLE.fullmatch(identifier):
        same = [other for other in ids if WHOLE.fullmatch(other) and float(other) == float(identifier)]
        return same[0] if len(same) == 1 else ""
    digits = re.findall(r"[1-9]\d*", identifier)
    alike = {other.casefold(): other for other in ids if re.findall(r"[1-9]\d*", other) == digits}
    nearest = difflib.get_close_matches(identifier.casefold(), alike, n=1)
    return alike[nearest[0]] if nearest else ""


def check_value(identifier: str, value: float) -> float:
    """Return a measured value as a float, without the sign of a zero.

    Raises:
        ValueError: if it is not a number from -`LARGEST_REWARD` to `LARGEST_REWARD`, which agents can learn from, or so
            small that it is no measurement.
    """
    number = _plain(value)
    if not abs(number) <= LARGEST_REWARD or 0 < abs(number) < SMALLEST:  # written so that NaN fails too
        raise ValueError(
            f"Expected a number for `{identifier}`, 0 or of a size from {SMALLEST:g} to {LARGEST_REWARD:g}. Got "
            f"{value!r}."
        )
    return float(number) + 0.0


def check_noise(identifier: str, noise: float | None, bound: str = "") -> float | None:
    """Return the standard deviation of a measured value as a float; None if it is not known.

    Raises:
        ValueError: if it is not a number above 0 and up to `LARGEST_REWARD`, or the value is only a bound.
    """
    if noise is None:
        return None
    if not 0 < _plain(noise) <= LARGEST_REWARD:
        raise ValueError(
            f"Expected the noise of `{identifier}` to be a standard deviation above 0, or None. Got {noise!r}."
        )
    if bound:
        raise ValueError(f"Expected a noise of exact values only. `{identifier}` has one, and is a bound.")
    return float(noise)


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


def _plain(value: object) -> float:
    """Return a number as one of Python, since float32 does not hold `LARGEST_REWARD`; NaN for anything else."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, int | float) and not isinstance(plain, bool) else math.nan
