"""Check settings, with messages that contain the expected and the actual value."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Choice = TypeVar("Choice", bound=str)

LARGEST_MEAN = 1e99
"""Maximum of mean rewards, noise and its standard deviation. Agents accept rewards up to ten times as large."""


def check_integer(name: str, value: object, minimum: int, maximum: float = math.inf) -> int:
    """Return `value` as an int in [minimum, maximum], or raise a ValueError that names the setting."""
    good = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not good or not minimum <= value <= maximum:  # type: ignore[operator]
        upper = "" if maximum == math.inf else f" and <= {maximum}"
        raise ValueError(f"Expected `{name}` to be an integer >= {minimum}{upper}. Got {value!r}.")
    return int(value)  # type: ignore[call-overload, no-any-return]


def check_size(name: str, value: object, minimum: int = 1) -> int | tuple[int, int]:
    """Return `value` as an int >= `minimum` or as a pair (least, most), or raise a ValueError."""
    least, most = value if isinstance(value, (tuple, list)) and len(value) == 2 else (value, value)
    try:
        least = check_integer(name, least, minimum)
        most = check_integer(name, most, least)
    except ValueError as error:
        raise ValueError(
            f"Expected `{name}` to be an integer >= {minimum}, or (least, most). Got {value!r}."
        ) from error
    return most if least == most else (least, most)


def check_number(name: str, value: object, minimum: float, maximum: float = math.inf) -> float:
    """Return `value` as a finite float in [minimum, maximum], or raise a ValueError that names the setting."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not minimum <= value <= min(maximum, sys.float_info.max):  # type: ignore[operator]
        upper = "" if maximum == math.inf else f" and <= {maximum}"
        raise ValueError(f"Expected `{name}` to be a finite number >= {minimum}{upper}. Got {value!r}.")
    return float(value)  # type: ignore[arg-type]


def to_number(name: str, value: object) -> float:
    """Return the result of a user's function as a float, or raise a ValueError that names the function."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, RuntimeError):  # too large integers, and tensors
        number = math.nan
    if not abs(number) <= LARGEST_MEAN:  # also true for NaN
        raise ValueError(f"Expected `{name}` to return a number from -{LARGEST_MEAN} to {LARGEST_MEAN}. Got {value!r}.")
    return number


def check_flag(name: str, value: object) -> bool:
    """Return `value` if it is a bool, or raise a ValueError that names the setting."""
    if not isinstance(value, bool):
        raise ValueError(f"Expected `{name}` to be True or False. Got {value!r}.")
    return value


def check_choice(name: str, value: object, choices: Sequence[Choice]) -> Choice:
    """Return `value` if it is one of `choices`, or raise a ValueError that lists them."""
    if isinstance(value, str) and value in choices:
        return choices[choices.index(value)]
    raise ValueError(f"Unknown {name} `{value}`. Choose one of {', '.join(choices)}.")


def check_names(kind: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return names if they are unique and not empty, or raise an error that contains `kind`."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"Expected `{kind}` to be a list of texts. Got {names!r:.80}. Use `str`.")
    doubled = next((name for name, count in Counter(names).items() if count > 1 or not name), None)
    if doubled is not None:
        places = " and ".join([str(place) for place, name in enumerate(names) if name == doubled][:2])
        raise ValueError(f"Expected `{kind}` that are all different, and not empty. Got `{doubled}` in place {places}.")
    return tuple(names)
