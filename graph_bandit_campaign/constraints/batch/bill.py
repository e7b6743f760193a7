"""Tell what suggestions cost, and of which groups they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.constraints.batch.terms import Terms

LONGEST = 24  # characters of a group in a line of the terminal


@dataclass(frozen=True)
class Bill:
    """What suggestions cost, and of which groups they are."""

    wanted: int = 0
    """How many suggestions were asked for."""
    prices: Mapping[str, float] = field(default_factory=dict)
    """Price of each suggestion, by its id; empty if prices do not count."""
    differ: bool = False
    """Whether prices of the pool differ and are weighed, so that they change what is suggested."""
    budget: float | None = None
    """What they may cost in all; None: any amount."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Group of each suggestion, by its id, empty where it has none; empty without caps."""
    at_most: int | None = None
    """How many of one group are suggested at most."""
    per: str = ""
    """What the group is: "scaffold", or a column."""

    @classmethod
    def of(cls, chosen: Sequence[str], ids: Sequence[str], constraints: BatchConstraints, terms: Terms) -> Bill:
        """Return the bill of some suggestions.

        Args:
            chosen: ids of the suggestions.
            ids: ids of all molecules.
            constraints: prices, budget and caps of all molecules.
            terms: what the user said.
        """
        place_of = {identifier: k for k, identifier in enumerate(ids)}
        costs, groups = constraints.costs(len(ids)), constraints.groups
        return cls(
            terms.count,
            {} if costs is None else {key: float(costs[place_of[key]]) for key in chosen},
            costs is not None and len(np.unique(costs[~np.isnan(costs)])) > 1 and not constraints.budget_only,
            constraints.budget,
            {} if groups is None else {key: groups[place_of[key]] for key in chosen},
            constraints.at_most,
            terms.per or "",
        )

    @property
    def total(self) -> float:
        """Return what the suggestions cost in all."""
        return sum(self.prices.values())

    def sentence(self) -> str:
        """Say what the suggestions cost, what is left of the budget, and what the cap is; empty without either."""
        parts = []
        if self.prices:
            those = f"The {len(self.prices)} suggestions cost" if len(self.prices) > 1 else "The suggestion costs"
            parts.append(f"{those} {money(self.total)} in all")
            if self.budget is not None:
                left = max(0.0, self.budget - self.total)
                parts[-1] += f", of a budget of {money(self.budget)}: {money(left)} is left"
            parts[-1] += "."
        if self.differ:
            parts.append("Prices were weighed: a dear molecule had to be better than a cheap one to be suggested.")
            if self.budget is not None:
                parts[-1] += " To let them count for the budget alone, pass --budget-only."
        if self.budget is not None and len(self.prices) < self.wanted:
            parts.append(f"Nothing else on offer is that cheap, so there are fewer than the {self.wanted} asked for.")
        if self.at_most is not None:
            different = len({group for group in self.groups.values() if group})
            alone = sum(not group for group in self.groups.values())
            most = f"At most {self.at_most}" if self.at_most > 1 else "No two"
            without = f"; without one: {alone:,}" if alone else ""
            text = f"{most} suggestions have the same {self.per}; different ones in this batch: {different:,}{without}."
            parts.append(text)
        return " ".join(parts)

    def heading(self) -> list[str]:
        """Return the names of the columns of `cells`."""
        return ["price"] * bool(self.prices) + ["group"] * bool(self.groups)

    def cells(self, identifier: str) -> list[str]:
        """Return price and group of a suggestion as text, those that there are."""
        return [text for _, text in self.lines(identifier)]

    def lines(self, identifier: str) -> list[tuple[str, str]]:
        """Return price and group of a suggestion, those that there are, each after its name."""
        prices = [("price", money(self.prices[identifier]))] if self.prices else []
        return prices + ([(self.per, self.groups[identifier])] if self.groups else [])


def money(amount: float) -> str:
    """Write an amount with up to two decimals, and a smaller one with four digits."""
    return f"{amount:.4g}" if abs(amount) < 0.01 else f"{amount:.2f}".rstrip("0").rstrip(".")


def shortened(text: str) -> str:
    """Write a text with at most 24 characters."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
