"""Check the arguments of `make`, `reset` and `step`."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from copy import copy
from typing import SupportsIndex

import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import InvalidAction
from numpy.typing import NDArray

from graph_bandit_env.checks import check_flag


def limit_spec(spec: EnvSpec | None, rounds: int) -> EnvSpec | None:
    """Return a copy of a spec whose `max_episode_steps`, which wrappers look up, is at most `rounds`."""
    if spec is not None:
        spec = copy(spec)
        spec.max_episode_steps = min(rounds, spec.max_episode_steps or rounds)
    return spec


def check_reset_options(options: Mapping[str, object] | None) -> bool:
    """Return the option `resample` of `reset` (default False), or raise a ValueError for any other option."""
    given: object = {} if options is None else options
    if not isinstance(given, Mapping) or set(given) - {"resample"}:
        raise ValueError(f"Expected the option `resample` or none. Got {options!r}.")
    return check_flag("resample", given.get("resample", False))


def check_action(action: SupportsIndex, action_mask: NDArray[np.bool_]) -> int:
    """Return `action` as an int if the round offers it, or raise `InvalidAction`."""
    last = len(action_mask) - 1
    try:
        index = operator.index(None if isinstance(action, bool) else action)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidAction(f"Expected an integer from 0 to {last}. Got {action!r}.") from None
    if not 0 <= index <= last:
        raise InvalidAction(f"Expected an action from 0 to {last}. Got {index}.")
    if not action_mask[index]:
        raise InvalidAction(
            f"Expected an action of this round. Got {index}, which `action_mask` rules out. Choose one where it is 1."
        )
    return index
