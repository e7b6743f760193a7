"""Check the arguments of `make`, `reset` and `step`, and spread seeds over many bandits."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import SupportsIndex

import numpy as np
from gymnasium.error import InvalidAction
from numpy.typing import NDArray

from graph_bandit_env.checks import check_flag


def check_reset_options(options: Mapping[str, object] | None) -> bool:
    """Return the option `resample` of `reset` (default False), or raise a ValueError for any other option."""
    given: object = {} if options is None else options
    if not isinstance(given, Mapping) or set(given) - {"resample"}:
        raise ValueError(f"Expected the option `resample` or none. Got {options!r}.")
    return check_flag("resample", given.get("resample", False))


def check_action(action: SupportsIndex, action_mask: NDArray[np.bool_]) -> int:
    """Return `action` as an int if the round offers it, or raise `InvalidAction`."""
    try:
        index = operator.index(None if isinstance(action, bool) else action)  # type: ignore[arg-type]
    except TypeError:
        index = -1
    if not (0 <= index < len(action_mask) and action_mask[index]):
        raise InvalidAction(
            f"Expected an integer from 0 to {len(action_mask) - 1} where `action_mask` is 1. Got {action!r}."
        )
    return index


def spread_seeds(seed: int, num_envs: int) -> list[int]:
    """Return a seed for each of many bandits, mixed by `SeedSequence`: seeds 0 and 1 give lists with nothing in common.

    Gymnasium itself uses seed, seed + 1, and so on, which makes environment 1 of seed 0 equal to environment 0 of
    seed 1.

    Args:
        seed: an integer >= 0.
        num_envs: how many seeds to return; a larger number keeps the first ones.

    Returns:
        The seeds that `GraphActionBanditVector` uses for `reset(seed=seed)`. Other vector environments take the list in
        their `reset`.
    """
    return [int(word) for word in np.random.SeedSequence(seed).generate_state(num_envs, np.uint64)]
