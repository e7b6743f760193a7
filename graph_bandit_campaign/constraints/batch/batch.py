"""Limit what a batch costs, and how many graphs of one group it holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.checks import check_integer
from graph_bandit_campaign.flags import check_flags


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Limits on the cost and the groups of a batch, in the user's words: prices and groups are columns of the pool."""

    count: int
    """How many molecules are wanted."""
    price: str | None = None
    """Column of prices, or one price for all as text; None: prices do not count."""
    budget: float | None = None
    """What the batch may cost; None: any amount."""
    budget_only: bool = False
    """Whether prices count for the budget alone."""
    per: str | None = None
    """What a group is: "scaffold", or a column; None: there are no caps."""
    at_most: int | None = None
    """How many of one group there may be; None: any number."""

    @property
    def one_price(self) -> float | None:
        """Return the price of all molecules; None if there is no price, or a column of them."""
        try:
            return None if self.price is None else float(self.price)
        except ValueError:
            return None

    def content(self) -> list[object]:
        """Return what they say, but for the number of molecules, for digests."""
        return [self.price, self.budget, self.budget_only, self.per, self.at_most]


@dataclass(frozen=True, eq=False, kw_only=True)
class BatchConstraints:
    """What a batch may cost, and how many graphs of one group it may hold.

    Raises:
        ValueError: if a price is not positive, a budget comes without prices, groups without `at_most` or the reverse.
    """

    prices: Sequence[float] | NDArray[np.float64] | float | None = None
    """`(K,)` price of each graph, NaN where it is not known, or one price for all; None: prices do not count. A graph
    without a known price is not chosen."""
    budget: float | None = None
    """What the batch may cost; it holds fewer graphs than asked for if more are too dear. None: any amount."""
    groups: Sequence[str] | None = None
    """`(K,)` group of each graph, such as its scaffold or its vendor. A graph whose group is empty is a group of its
    own."""
    at_most: int | None = None
    """Number of graphs of one group that the batch may hold. What is pending does not count."""
    budget_only: bool = False
    """True: prices count for the budget alone, so that a dear graph need not be better than a cheap one."""

    def __post_init__(self) -> None:
        check_flags(self)
        if self.prices is not None:
            prices = np.asarray(self.prices, np.float64)
            known = prices[~np.isnan(prices)]
            if prices.ndim > 1 or not ((known > 0) & (known < math.inf)).all() or known.size < (prices.ndim == 0):
                raise ValueError(
                    f"Expected `prices` to be positive and finite, one number or one each, NaN where a price is not "
                    f"known. Got {self.prices!r}."
                )
        if self.budget is not None and (self.prices is None or not 0 < self.budget < math.inf):
            raise ValueError(f"Expected `budget` to be positive and finite, with `prices`. Got {self.budget!r}.")
        if self.budget_only and self.budget is None:
            raise ValueError("Expected a `budget` with `budget_only`. Got none.")
        if (self.groups is None) != (self.at_most is None):
            raise ValueError("Expected `groups` and `at_most` together. Got one of them.")
        if self.at_most is not None:
            check_integer("at_most", self.at_most, smallest=1)

    def costs(self, count: int) -> NDArray[np.float64] | None:
        """Return the price of each of `count` graphs, `(count,)`; None if prices do not count.

        Raises:
            ValueError: if there are prices of another number of graphs.
        """
        if self.prices is None:
            return None
        prices = np.asarray(self.prices, np.float64)
        if prices.ndim and len(prices) != count:
            raise ValueError(f"Expected a price of each of {count} candidates. Got {len(prices)}.")
        return np.broadcast_to(prices, (count,))

    def known(self, count: int) -> NDArray[np.bool_]:
        """Return which of `count` graphs have a known price, `(count,)`; all of them if prices do not count.

        Raises:
            ValueError: as `costs`.
        """
        costs = self.costs(count)
        return np.ones(count, np.bool_) if costs is None else ~np.isnan(costs)

    def group_numbers(self, count: int) -> NDArray[np.int64] | None:
        """Return the group of each of `count` graphs as a number, `(count,)`; None without groups.

        Raises:
            ValueError: if there are groups of another number of graphs.
        """
        if self.groups is None:
            return None
        if len(self.groups) != count:
            raise ValueError(f"Expected a group of each of {count} candidates. Got {len(self.groups)}.")
        number_of: dict[str, int] = {}
        numbers = [number_of.setdefault(group or f"\0{k}", k) for k, group in enumerate(self.groups)]
        return np.array(numbers, np.int64)
