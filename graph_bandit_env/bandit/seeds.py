"""A seed for each of many bandits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def spread_seeds(seed: int, num_envs: int) -> list[int]:
    """Return a seed for each of many bandits, mixed by `SeedSequence`: those of 0 and of 1 have none in common.

    Gymnasium itself uses seed, seed + 1, and so on, by which environment 1 of seed 0 is environment 0 of seed 1.

    Args:
        seed: an integer >= 0.
        num_envs: how many; the first ones do not depend on it.

    Returns:
        What the native vector environment makes of `reset(seed=seed)`; `reset` of any other takes the list.
    """
    return [int(word) for word in np.random.SeedSequence(seed).generate_state(num_envs, np.uint64)]


def read_seeds(seed: int | Sequence[int | None] | None, num_envs: int) -> list[int | None]:
    """Return a seed or None for each bandit: those that were given, or `spread_seeds` of one.

    Raises:
        ValueError: if there are not as many as bandits, or one is no integer >= 0.
    """
    if seed is None:
        return [None] * num_envs
    if not isinstance(seed, (int, np.integer, Sequence, np.ndarray)):
        raise ValueError(f"Expected an integer, a list of integers, or None as `seed`. Got {seed!r}.")
    given: list[int | None] = [seed] if isinstance(seed, (int, np.integer)) else list(seed)
    for one in given:
        if one is not None and (isinstance(one, bool) or not isinstance(one, (int, np.integer)) or one < 0):
            raise ValueError(f"Expected seeds that are integers >= 0, or None. Got {one!r}.")
    if isinstance(seed, (int, np.integer)):
        return list(spread_seeds(int(seed), num_envs))
    if len(given) != num_envs:
        raise ValueError(f"Expected {num_envs} seeds, one for each bandit. Got {len(given)}.")
    return [None if one is None else int(one) for one in given]
