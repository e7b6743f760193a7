"""Rank by another rule, minus a penalty for prices above the cheapest."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from agents.beliefs.belief import AcquisitionRule, Belief, Memoryless

PRICE_WEIGHT = 0.5  # for rules whose index is in units of the targets; chosen in docs/evidence/molecules.md


@dataclass
class Priced(Memoryless):
    """Subtract a handicap from the index of a rule, so that the cheaper of two equally good actions is chosen.

        index'(G) = index(G) - h(G)

    With handicaps of 0 the index equals that of the rule exactly.
    """

    rule: AcquisitionRule
    """The memoryless rule."""
    handicap: Tensor
    """`(K,)` float64. h of each action, in units of the index."""

    @property
    def draws_rewards(self) -> bool:
        """Return True if the rule draws rewards."""
        return bool(getattr(self.rule, "draws_rewards", False))

    def __call__(self, belief: Belief, action_mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return the index of each action minus its handicap."""
        return self.rule(belief, action_mask, generator) - self.handicap


def price_weight(rule: AcquisitionRule) -> float:
    """Return the cost, in units of a rule's index, of a price multiplied by e: its `price_weight`, by default 0.5."""
    return float(getattr(rule, "price_weight", PRICE_WEIGHT))


def log_ratios(prices: Tensor, action_mask: Tensor) -> Tensor:
    """Compute the log price of each action relative to the cheapest on offer.

        l = log(p / min p)

    Args:
        prices: `(K,)` float64. Positive for the actions that `action_mask` allows. The others may be NaN.
        action_mask: `(K,)` bool. Actions on offer.

    Returns:
        `(K,)` float64: 0 for the cheapest, and for actions that are not on offer.

    Raises:
        ValueError: if an action on offer has no positive, finite price.
    """
    if prices.shape != action_mask.shape:
        raise ValueError(
            f"Expected a positive price of each graph on offer, of shape `{tuple(action_mask.shape)}`. Got shape "
            f"`{tuple(prices.shape)}`."
        )
    offered = prices[action_mask]
    bad = ~(offered.isfinite() & (offered > 0))
    if bad.any():
        raise ValueError(f"Expected a positive price of each graph on offer. Got {offered[bad][0].item():g}.")
    return torch.where(action_mask, prices / offered.min(), 1.0).log() if len(offered) else torch.zeros_like(prices)
