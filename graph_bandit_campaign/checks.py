"""Check the ids, values, counts, flags and settings that a campaign receives. No numpy."""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, SupportsIndex

import tyro

from agents import LARGEST_REWARD

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Kind = Literal["", "class", "number"]  # of values: 1 for a hit and 0 otherwise; or numbers; "": decided by the values
Salts = Literal["merge", "separate"]  # as `graph_bandit_env.pools.Salts`, which takes longer to import
NONE = tyro.conf.arg(help_behavior_hint="(default: none)")  # for empty tuples, in `--help`

SMALLEST = 1e-100  # of a value other than 0


class TooFewLeftError(ValueError):
    """Fewer graphs can be chosen than requested.

    Args:
        message: states this, and suggests a remedy.
        left: number of graphs that can be chosen.
    """

    def __init__(self, message: str, left: int) -> None:
        super().__init__(message)
        self.left = left


def check_value(identifier: str, value: float) -> float:
    """Return a measured value as a float, without the sign of a zero.

    Raises:
        ValueError: if it is not a number from -`LARGEST_REWARD` to `LARGEST_REWARD`, the range that agents can learn
            from, or is too small to be a measurement.
    """
    number = _plain(value)
    if not abs(number) <= LARGEST_REWARD or 0 < abs(number) < SMALLEST:  # written so that NaN fails too
        sizes = f"0 or of a size from {SMALLEST:g} to {LARGEST_REWARD:g}"
        raise ValueError(f"Expected a number for `{identifier}`, {sizes}. Got {value!r}.")
    return float(number) + 0.0


def check_noise(identifier: str, noise: float | None, bound: str = "") -> float | None:
    """Return the standard deviation of a measured value as a float, or None if it is unknown.

    Raises:
        ValueError: if it is not a number above 0 and up to `LARGEST_REWARD`, or the value is a bound.
    """
    if noise is None:
        return None
    if not 0 < _plain(noise) <= LARGEST_REWARD:
        raise ValueError(f"Expected the noise of `{identifier}` to be a deviation above 0, or None. Got {noise!r}.")
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
    """Return a number as a Python number, since float32 cannot hold `LARGEST_REWARD`. Other objects give NaN."""
    plain = value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
    return plain if isinstance(plain, int | float) and not isinstance(plain, bool) else math.nan


def check_flag(name: str, value: object) -> bool:
    """Return a flag as a Python bool.

    Raises:
        ValueError: if it is any other object. A text such as "min" or "False" would count as True.
    """
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):  # of numpy
        raise ValueError(f"Expected `{name}` to be True or False. Got {value!r}.")
    return bool(value)


def check_flags(settings: DataclassInstance) -> None:
    """Convert the flags of a dataclass, frozen or not, to Python bools.

    Raises:
        ValueError: as `check_flag`.
    """
    for field in dataclasses.fields(settings):
        if field.type in ("bool", bool):
            object.__setattr__(settings, field.name, check_flag(field.name, getattr(settings, field.name)))


def check_least(settings: DataclassInstance, least: Mapping[str, int]) -> None:
    """Reject settings that are too small. None is allowed, and each element of a tuple is checked.

    Args:
        settings: settings of a command.
        least: smallest allowed values, by the names of the settings.

    Raises:
        ValueError: if a value is too small, or a tuple is empty.
    """
    for name, smallest in least.items():
        given = getattr(settings, name)
        values = given if isinstance(given, tuple) else (given,)
        if not values or any(value is not None and value < smallest for value in values):
            got = " ".join(map(str, values)) or "none"
            raise ValueError(f"Expected `--{name.replace('_', '-')}` to be at least {smallest}. Got {got}.")
