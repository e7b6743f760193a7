"""The settings from which prices, budget and groups are read."""

from __future__ import annotations

from typing import Protocol


class Terms(Protocol):
    """What prices, budget and caps are, as the settings of `suggest` have them."""

    @property
    def n(self) -> int:
        """Return how many molecules are wanted."""

    @property
    def price(self) -> str | None:
        """Return the column of prices, or one price for all as text; None: prices do not count."""

    @property
    def one_price(self) -> float | None:
        """Return the price, if it is the same for all."""

    @property
    def budget(self) -> float | None:
        """Return what the batch may cost; None: any amount."""

    @property
    def budget_only(self) -> bool:
        """Return whether prices count for the budget alone."""

    @property
    def at_most(self) -> int | None:
        """Return how many of one group there may be; None: any number."""

    @property
    def per(self) -> str | None:
        """Return what the group is: "scaffold", or a column; None: there are no caps."""
