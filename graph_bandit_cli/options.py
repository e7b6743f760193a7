"""Refuse options that tyro would read otherwise than they are meant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import get_type_hints


def check_options(settings: type[object], args: Sequence[str]) -> None:
    """Refuse an option that is given twice although it takes all its values at once, or with more values than one.

    tyro would keep the last values of the first in silence, and call those of the second unrecognized.

    Args:
        settings: the command.
        args: its arguments.

    Raises:
        ValueError: if there is such an option; the message says how to give it.
    """
    fields = {_option(name, hint): str(hint) for name, hint in get_type_hints(settings, include_extras=True).items()}
    given = [arg.partition("=")[0].replace("_", "-") for arg in args if arg.startswith("--")]
    for option in sorted(option for option, kind in fields.items() if _holds(kind) == math.inf):
        if given.count(option) > 1:
            raise ValueError(
                f"Expected `{option}` once, with all its values after it: {option} FIRST SECOND. Got it "
                f"{given.count(option)} times."
            )
    places = sum("Positional" in kind for kind in fields.values())
    for option, values in _left_over(fields, args, places):
        written = " ".join(f"{option} {value}" for value in values)
        raise ValueError(f"Expected one value after each `{option}`. Got {' '.join(values)}. Write {written}.")


def _left_over(fields: dict[str, str], args: Sequence[str], places: int) -> list[tuple[str, list[str]]]:
    """Return the options that are given again for each value, with their values, if some have no place.

    Args:
        fields: type of each option.
        args: the arguments.
        places: how many arguments need no option.
    """
    groups: list[tuple[str, list[str]]] = [("", [])]  # values after each option, and before the first
    for arg in args:
        if arg.startswith("--"):
            name, sign, value = arg.partition("=")
            groups.append((name.replace("_", "-"), [value] if sign else []))
        else:
            groups[-1][1].append(arg)
    beyond = [len(values) - (_holds(fields.get(name, "tuple")) if name else 0) for name, values in groups]
    if sum(count for count in beyond if count > 0) <= places:
        return []
    several = zip(groups, beyond, strict=True)
    return [group for group, count in several if count > 0 and "UseAppendAction" in fields.get(group[0], "")]


def _option(name: str, hint: object) -> str:
    """Return the option of a field; tyro lets an annotation rename it."""
    names = [getattr(extra, "name", None) for extra in getattr(hint, "__metadata__", ())]
    return f"--{next(filter(None, names), name).replace('_', '-')}"


def _holds(kind: str) -> float:
    """Return how many values an option of this type takes each time it is given."""
    if "tuple[" in kind or kind == "tuple":
        return 1 if "UseAppendAction" in kind else math.inf
    return 0 if "bool" in kind else 1
