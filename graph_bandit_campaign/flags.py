"""Check the flags given to a campaign, its goals and settings. No numpy."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import tyro

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Kind = Literal["", "class", "number"]  # of values: 1 for a hit and 0 for none; or numbers; "": they say it themselves
Salts = Literal["merge", "separate"]  # as `graph_bandit_env.pools.Salts`, which takes longer to import
NONE = tyro.conf.arg(help_behavior_hint="(default: none)")  # for empty tuples, in `--help`
NUMPY = (("numpy", "bool"), ("numpy", "bool_"))  # what version 2 and version 1 call their bool


def check_flag(name: str, value: object) -> bool:
    """Return True or False as a bool of Python.

    Raises:
        ValueError: if it is anything else: a text such as "min" or "False" would count as True.
    """
    if not isinstance(value, bool) and (type(value).__module__, type(value).__name__) not in NUMPY:
        raise ValueError(f"Expected `{name}` to be True or False. Got {value!r}.")
    return bool(value)


def check_flags(settings: DataclassInstance) -> None:
    """Make bools of Python of the flags of a dataclass, frozen or not.

    Raises:
        ValueError: as `check_flag`.
    """
    for field in dataclasses.fields(settings):
        if field.type in ("bool", bool):
            object.__setattr__(settings, field.name, check_flag(field.name, getattr(settings, field.name)))


def check_least(settings: DataclassInstance, least: Mapping[str, int]) -> None:
    """Refuse settings that are too small; None, and each of several numbers, is allowed.

    Args:
        settings: settings of a command.
        least: the smallest value of some of them, by their names.

    Raises:
        ValueError: if one is smaller, or there is none of several.
    """
    for name, smallest in least.items():
        given = getattr(settings, name)
        values = given if isinstance(given, tuple) else (given,)
        if not values or any(value is not None and value < smallest for value in values):
            got = " ".join(map(str, values)) or "none"
            raise ValueError(f"Expected `--{name.replace('_', '-')}` to be at least {smallest}. Got {got}.")
