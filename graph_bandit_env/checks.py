"""What every setting is held against: the message says what was expected and what came."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.error import InvalidAction
from numpy.typing import NDArray


def check_integer(name: str, value: object, minimum: int, maximum: float = math.inf) -> int:
    """Return `value` as an int in [minimum, maximum], or raise a ValueError that names the setting."""
    good = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not good or not minimum <= value <= maximum:  # type: ignore[operator]
        upper = "" if maximum == math.inf else f" and <= {maximum}"
        raise ValueError(f"Expected `{name}` to be an integer >= {minimum}{upper}. Got {value!r}.")
    return int(value)  # type: ignore[call-overload, no-any-return]


def check_number(name: str, value: object, minimum: float, maximum: float = math.inf) -> float:
    """Return `value` as a finite float in [minimum, maximum], or raise a ValueError that names the setting."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or not minimum <= value <= maximum:  # type: ignore[arg-type, operator]
        upper = "" if maximum == math.inf else f" and <= {maximum}"
        raise ValueError(f"Expected `{name}` to be a finite number >= {minimum}{upper}. Got {value!r}.")
    return float(value)  # type: ignore[arg-type]


def check_flag(name: str, value: object) -> bool:
    """Return `value` if it is True or False, or raise a ValueError that names the setting."""
    if not isinstance(value, bool):
        raise ValueError(f"Expected `{name}` to be True or False. Got {value!r}.")
    return value


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`, or raise a ValueError that shows the nearest and all of them."""
    choices = tuple(choices)
    if isinstance(value, str) and value in choices:
        return value
    nearest = difflib.get_close_matches(str(value), choices, n=1)
    hint = f" Did you mean `{nearest[0]}`?" if nearest else ""
    raise ValueError(f"Unknown {name} `{value}`.{hint} Choose one of {', '.join(choices)}.")


def check_reset_options(options: object) -> bool:
    """Return the option `resample` of `reset` (False if it is not given), or raise a ValueError if there are others."""
    given = {} if options is None else options
    if not isinstance(given, dict) or set(given) - {"resample"}:
        raise ValueError(f"Expected the option `resample` or none. Got {options!r}.")
    return check_flag("resample", given.get("resample", False))


def check_action(action: Any, action_mask: NDArray[np.bool_]) -> int:
    """Return `action` as an int if the round offers it, or raise `InvalidAction`."""
    last = len(action_mask) - 1
    try:
        index = operator.index(action)
    except TypeError:
        raise InvalidAction(f"Expected an integer from 0 to {last}. Got {action!r}.") from None
    if not 0 <= index <= last:
        raise InvalidAction(f"Expected an action from 0 to {last}. Got {index}.")
    if not action_mask[index]:
        raise InvalidAction(
            f"Expected an action of this round. Got {index}, which `action_mask` rules out. Choose where it is 1."
        )
    return index
