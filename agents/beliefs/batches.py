"""Batches: several actions are chosen before any of their rewards is seen."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from agents.beliefs.belief import Belief
from agents.beliefs.rules.rule import AcquisitionRule
from agents.contract.inputs import masked_argmax


def choose_batch(
    rule: AcquisitionRule,
    belief: Belief,
    mask: Tensor,
    count: int,
    generator: torch.Generator,
    hallucinate: Callable[[int], Belief],
    pending: Sequence[int] = (),
) -> list[int]:
    """Choose distinct actions one after the other.

    A rule that draws rewards draws them anew for each [Kandasamy et al. 2018]; for any other, the covariance is updated
    as if each action had been played and its mean seen, which needs no reward [Desautels et al. 2014, GP-BUCB].

    Args:
        rule: ranks the K actions.
        belief: about them.
        mask: `(K,)` bool. Actions that are on offer.
        count: how many.
        generator: of all the agent's randomness.
        hallucinate: returns the belief after one more action without its reward; is told each in turn.
        pending: actions already under way, whose rewards are not known yet. They are not on offer again.

    Returns:
        `count` indices, in the order of choice.

    Raises:
        ValueError: if fewer are on offer, or `count` is not an integer >= 1.
    """
    left, chosen, imagines = mask.clone(), [], not getattr(rule, "draws_rewards", False)
    left[list(pending)] = False
    check_count(count, left)
    index = rule(belief, left, generator)  # what a rule remembers comes from what is known, not from what is imagined
    rule = copy.deepcopy(rule)
    if pending and imagines:
        for action in pending:
            belief = hallucinate(action)
        index = rule(belief, left, generator)
    while True:
        chosen.append(masked_argmax(index, left, generator))
        if len(chosen) == count:
            return chosen
        left[chosen[-1]] = False
        if imagines:
            belief = hallucinate(chosen[-1])
        index = rule(belief, left, generator)


def check_count(count: int, mask: Tensor) -> None:
    """Refuse to choose more actions than there are.

    Raises:
        ValueError: if `count` is not an integer from 1 to the number of actions on offer.
    """
    offered = int(mask.sum())
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 1 <= count <= offered:
        raise ValueError(f"Expected a number of graphs from 1 to {offered}, which are on offer. Got {count!r}.")
