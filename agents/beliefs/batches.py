"""Choose several actions before their rewards are known, and short lists of candidates."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.beliefs.belief import AcquisitionRule, Belief, Fantasize
from agents.contract.inputs import masked_argmax

DIGITS = 9  # decimals kept: smaller differences are rounding errors that depend on the order of summation


def choose_batch(
    rule: AcquisitionRule,
    belief: Belief,
    mask: Tensor,
    count: int,
    generator: torch.Generator,
    hallucinate: Fantasize,
    pending: Sequence[int] = (),
    fits: Callable[[Sequence[int]], Tensor] | None = None,
    awaiting: Sequence[int] = (),
) -> list[int]:
    """Choose distinct actions one after the other.

    A rule that samples rewards draws new ones for each choice [Kandasamy et al. 2018]. For any other rule, the
    covariance is updated as if the action had been played and its mean observed, which needs no reward [Desautels et
    al. 2014, GP-BUCB].

    Args:
        rule: ranks the K actions.
        belief: belief about the K actions.
        mask: `(K,)` bool. Actions on offer.
        count: number of actions to choose.
        generator: generator of all the agent's randomness.
        hallucinate: takes a few actions at a time and returns the belief after all of them, without their rewards.
        pending: actions being measured. Their rewards are unknown, and they are not chosen.
        fits: given the actions chosen so far, returns a mask of the actions that can join them, `(K,)` bool. None: all.
        awaiting: actions played, repeated once per play. Their rewards are unknown, and they may be chosen again.

    Returns:
        `count` indices in the order of choice, or fewer if no other action fits.

    Raises:
        ValueError: if fewer actions are on offer, or `count` is not an integer >= 1.
    """
    left, chosen, fantasizes = mask.clone(), [], not getattr(rule, "draws_rewards", False)
    left[list(pending)] = False
    check_count(count, left)
    before = generator.get_state()
    index = rule(belief, left, generator)  # only real beliefs update the rule's memory; the copy sees fantasized ones
    rule = copy.deepcopy(rule)
    if (pending or awaiting) and fantasizes:
        if awaiting:
            generator.set_state(before)  # a rule then draws the same numbers as without awaited rewards
        belief = hallucinate(*pending, *awaiting)
        index = rule(belief, left, generator)
    while True:
        chosen.append(masked_argmax(index, left, generator))
        if len(chosen) == count:
            return chosen
        left[chosen[-1]] = False
        if fits is not None:
            left &= fits(chosen)
            if not left.any():
                return chosen
        if fantasizes:
            belief = hallucinate(chosen[-1])
        index = rule(belief, left, generator)


def check_count(count: int, mask: Tensor) -> None:
    """Check that enough actions are on offer.

    Raises:
        ValueError: if `count` is not an integer from 1 to the number of actions on offer.
    """
    offered = int(mask.sum())
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 1 <= count <= offered:
        raise ValueError(f"Expected a number of graphs from 1 to {offered}, which are on offer. Got {count!r}.")


def short_list(values: NDArray[np.float64], names: Sequence[str], size: int, seed: int) -> NDArray[np.int64]:
    """Return the positions of the largest values, in the order of the set.

    Values are rounded to nine decimals. Ties are broken by the smallest digest of seed and name, so the result does not
    depend on the other positions: merging short lists of parts gives the short list of the whole.

    Args:
        values: `(n,)`, no NaN. Entries of -inf are excluded.
        names: n different names.
        size: number of positions to return, at most the number of values.
        seed: breaks ties.

    Returns:
        `(min(size, n),)` int64, in increasing order.

    Raises:
        ValueError: if the number of names differs from the number of values, or a value is NaN.
    """
    if len(names) != len(values) or np.isnan(values).any():
        raise ValueError(
            f"Expected {len(values)} names, and values that are numbers. Got {len(names)} names, and "
            f"{int(np.isnan(values).sum())} values that are NaN."
        )
    if size >= len(values):
        return np.arange(len(values))
    rounded = np.round(values, DIGITS)
    least = np.partition(rounded, len(values) - size)[len(values) - size] if size else np.inf
    sure, equal = np.flatnonzero(rounded > least), np.flatnonzero(rounded == least)
    if len(sure) + len(equal) > size:
        equal = equal[order_by_digest([names[k] for k in equal.tolist()], seed)][: size - len(sure)]
    return np.sort(np.concatenate([sure, equal]))


def order_by_digest(names: Sequence[str], seed: int) -> NDArray[np.int64]:
    """Return the positions of n different names sorted by the digests of seed and name, `(n,)`."""
    digests = [hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest() for name in names]
    return np.array(sorted(range(len(names)), key=digests.__getitem__), np.int64)
