"""Refuse options that tyro would read otherwise than they are meant."""

from __future__ import annotations

import math
from argparse import Action
from collections.abc import Sequence

from graph_bandit_cli.help import options_of


def check_options(settings: type[object], args: Sequence[str]) -> None:
    """Refuse an option that is given twice although it takes all its values at once, or with more values than one.

    tyro would keep the last values of the first in silence, and call those of the second unrecognized.

    Args:
        settings: the command.
        args: its arguments.

    Raises:
        ValueError: if there is such an option; the message says how to give it.
    """
    known = options_of(settings)
    options = {option.option_strings[0]: option for option in known if option.option_strings}
    given = [arg.partition("=")[0].replace("_", "-") for arg in args if arg.startswith("--")]
    for option in sorted(name for name in options if _holds(options[name]) == math.inf):
        if given.count(option) > 1:
            raise ValueError(
                f"Expected `{option}` once, with all its values after it: {option} FIRST SECOND. Got it "
                f"{given.count(option)} times."
            )
    for option, values in _left_over(options, args, len(known) - len(options)):
        written = " ".join(f"{option} {value}" for value in values)
        raise ValueError(f"Expected one value after each `{option}`. Got {' '.join(values)}. Write {written}.")


def _left_over(options: dict[str, Action], args: Sequence[str], places: int) -> list[tuple[str, list[str]]]:
    """Return the options that are given again for each value, with their values, if some have no place.

    Args:
        options: the options by name.
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
    beyond = [len(values) - (_holds(options.get(name)) if name else 0) for name, values in groups]
    if sum(count for count in beyond if count > 0) <= places:
        return []
    several = zip(groups, beyond, strict=True)
    return [group for group, count in several if count > 0 and type(options.get(group[0])).__name__ == "_AppendAction"]


def _holds(option: Action | None) -> float:
    """Return how many values an option takes each time it is given; an unknown one takes any number."""
    return math.inf if option is None or option.nargs == "*" else float(option.nargs != 0)
