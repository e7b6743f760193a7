"""Limit the cost of a batch and the number of graphs of each group, and report the cost of suggestions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.checks import check_flags, check_integer

ROUNDING = 1e-9  # share of the budget that rounding of decimal prices may add


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Limits on the cost and the groups of a batch, as given by the user. Prices and groups are columns of the pool."""

    count: int
    """Number of molecules to suggest."""
    price: str | None = None
    """Column of prices, or one price for all as text. None if prices do not count."""
    budget: float | None = None
    """Maximum total price of the batch. None means unlimited."""
    budget_only: bool = False
    """True if prices count for the budget only."""
    group_by: str | None = None
    """Grouping: "scaffold", or a column. None if there are no caps."""
    max_per_group: int | None = None
    """Maximum number of molecules of one group. None means unlimited."""

    @property
    def one_price(self) -> float | None:
        """Return the price of all molecules, or None if there is no price or a column of prices."""
        try:
            return None if self.price is None else float(self.price)
        except ValueError:
            return None

    def constraints(self, prices: NDArray[np.float64], groups: Sequence[str], count: int) -> BatchConstraints:
        """Return the constraints on a batch.

        Args:
            prices: prices of the molecules of the pool, NaN if unknown.
            groups: groups of these molecules, empty if there is none.
            count: number of molecules, those of the pool first. The others are not suggested.
        """
        others = count - len(prices)
        return BatchConstraints(
            prices=None if self.price is None else np.concatenate([prices, np.full(others, np.nan)]),
            budget=self.budget,
            groups=None if self.group_by is None else [*groups, *[""] * others],
            max_per_group=self.max_per_group,
            budget_only=self.budget_only,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class BatchConstraints:
    """Constraints on the cost of a batch, and on the number of graphs of each group.

    Raises:
        ValueError: if a price is not positive, a budget has no prices, or only `groups` or `max_per_group` is given.
    """

    prices: Sequence[float] | NDArray[np.float64] | float | None = None
    """`(K,)` price of each graph, NaN if unknown, or one price for all. None if prices do not count. A graph without a
    known price is not chosen."""
    budget: float | None = None
    """Maximum total price of the batch. A small budget allows fewer graphs. None means unlimited."""
    groups: Sequence[str] | None = None
    """`(K,)` group of each graph, such as its scaffold or its vendor. A graph with an empty group forms a separate
    group."""
    max_per_group: int | None = None
    """Maximum number of graphs of one group in the batch, not counting pending graphs."""
    budget_only: bool = False
    """True if prices count for the budget only, so that an expensive graph need not be better than a cheap one."""

    def __post_init__(self) -> None:
        check_flags(self)
        if self.prices is not None:
            prices = np.asarray(self.prices, np.float64)
            known = prices[~np.isnan(prices)]
            if prices.ndim > 1 or not ((known > 0) & (known < math.inf)).all() or known.size < (prices.ndim == 0):
                raise ValueError(f"Expected positive, finite `prices`, NaN if one is not known. Got {self.prices!r}.")
        if self.budget is not None and (self.prices is None or not 0 < self.budget < math.inf):
            raise ValueError(f"Expected `budget` to be positive and finite, with `prices`. Got {self.budget!r}.")
        if self.budget_only and self.budget is None:
            raise ValueError("Expected a `budget` with `budget_only`. Got none.")
        if (self.groups is None) != (self.max_per_group is None):
            raise ValueError("Expected `groups` and `max_per_group` together. Got one of them.")
        if self.max_per_group is not None:
            check_integer("max_per_group", self.max_per_group, smallest=1)

    @property
    def money(self) -> float:
        """Return the budget with a tolerance for rounding of decimal prices, infinite without a budget."""
        return math.inf if self.budget is None else self.budget * (1 + ROUNDING)

    def costs(self, count: int) -> NDArray[np.float64]:
        """Return the price of each of `count` graphs, `(count,)`, or 1 if prices do not count.

        Raises:
            ValueError: if the number of prices differs.
        """
        prices = np.asarray(1.0 if self.prices is None else self.prices, np.float64)
        if prices.ndim and len(prices) != count:
            raise ValueError(f"Expected a price of each of {count} candidates. Got {len(prices)}.")
        return np.broadcast_to(prices, (count,))

    def group_numbers(self, count: int) -> NDArray[np.int64]:
        """Return the group of each of `count` graphs as a number, `(count,)`. Without groups, each number is unique.

        Raises:
            ValueError: if the number of groups differs.
        """
        groups = [""] * count if self.groups is None else self.groups
        if len(groups) != count:
            raise ValueError(f"Expected a group of each of {count} candidates. Got {len(groups)}.")
        number_of: dict[str, int] = {}
        return np.array([number_of.setdefault(group or f"\0{k}", k) for k, group in enumerate(groups)], np.int64)


@dataclass(frozen=True)
class Bill:
    """The cost and the groups of suggestions."""

    terms: Terms
    """Prices, budget and groups, as given by the user."""
    prices: Mapping[str, float]
    """Price of each suggestion, by its id. Empty if prices do not count."""
    groups: Mapping[str, str]
    """Group of each suggestion, by its id (an empty text if it has none). Empty without caps."""

    @classmethod
    def of(cls, chosen: Sequence[str], ids: Sequence[str], constraints: BatchConstraints, terms: Terms) -> Bill:
        """Return the bill of some suggestions.

        Args:
            chosen: ids of the suggestions.
            ids: ids of all molecules.
            constraints: prices and groups of all molecules.
            terms: options of the user.
        """
        place_of = {identifier: k for k, identifier in enumerate(ids)}
        costs, groups = constraints.costs(len(ids)), constraints.groups
        prices = {} if constraints.prices is None else {key: float(costs[place_of[key]]) for key in chosen}
        return cls(terms, prices, {} if groups is None else {key: groups[place_of[key]] for key in chosen})

    def sentence(self) -> str:
        """Report the cost of the suggestions, and the remaining budget. Empty without prices."""
        parts, terms, total = list[str](), self.terms, sum(self.prices.values())
        if self.prices:
            left = "" if terms.budget is None else money(max(0.0, terms.budget - total))
            budget = f", of a budget of {money(terms.budget or 0)}: {left} is left" * bool(left)
            parts.append(f"{len(self.prices)} suggested: they cost {money(total)} in all{budget}.")
        if terms.budget is not None and len(self.prices) < terms.count:
            parts.append(f"No other candidate is that cheap, so there are fewer than the {terms.count} asked for.")
        return " ".join(parts)

    def cells(self, identifier: str) -> dict[str, str]:
        """Return price and group of a suggestion as texts, if available."""
        prices = {"price": money(self.prices[identifier])} if self.prices else {}
        return prices | ({"group": self.groups[identifier]} if self.groups else {})


def money(amount: float) -> str:
    """Write an amount with up to two decimals, and a smaller one with four digits."""
    return f"{amount:.4g}" if abs(amount) < 0.01 else f"{amount:.2f}".rstrip("0").rstrip(".")
