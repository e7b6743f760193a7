"""Reject options that tyro would misread."""

from __future__ import annotations

import math
from argparse import Action
from collections.abc import Sequence

from graph_bandit_cli.help import options_of


def check_options(settings: type[object], args: Sequence[str]) -> None:
    """Reject a repeated option that takes all values at once, and extra values of a single-value option.

    tyro would silently keep the last values in the first case, and report unrecognized values in the second.

    Args:
        settings: settings class of the command.
        args: arguments of the command.

    Raises:
        ValueError: if there is such an option, with its correct usage.
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
    """Return the options to be repeated for each value, with their values, if some values are left over.

    Args:
        options: the options by name.
        args: the arguments.
        places: number of positional arguments.
    """
    groups: list[tuple[str, list[str]]] = [("", [])]  # values after each option, and those before the first
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
    """Return the number of values of an option per occurrence. An unknown one takes any number."""
    return math.inf if option is None or option.nargs == "*" else float(option.nargs != 0)
