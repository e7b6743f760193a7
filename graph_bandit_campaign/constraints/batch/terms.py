"""The words of the user on prices, a budget and groups."""

from __future__ import annotations

from dataclasses import dataclass


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
