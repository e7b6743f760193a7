"""Tell what suggestions cost, and of which groups they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph_bandit_campaign.constraints.batch.batch import BatchConstraints, Terms


@dataclass(frozen=True)
class Bill:
    """What suggestions cost, and of which groups they are."""

    terms: Terms
    """Prices, budget and groups, in the user's words."""
    prices: Mapping[str, float]
    """Price of each suggestion, by its id; empty if prices do not count."""
    differ: bool
    """Whether prices of the pool differ and are weighed, so that they change what is suggested."""
    groups: Mapping[str, str]
    """Group of each suggestion, by its id, empty where it has none; empty without caps."""

    @classmethod
    def of(cls, chosen: Sequence[str], ids: Sequence[str], constraints: BatchConstraints, terms: Terms) -> Bill:
        """Return the bill of some suggestions.

        Args:
            chosen: ids of the suggestions.
            ids: ids of all molecules.
            constraints: prices and groups of all molecules.
            terms: what the user said.
        """
        place_of = {identifier: k for k, identifier in enumerate(ids)}
        costs, groups = constraints.costs(len(ids)), constraints.groups
        prices = {} if costs is None else {key: float(costs[place_of[key]]) for key in chosen}
        differ = costs is not None and len(np.unique(costs[~np.isnan(costs)])) > 1 and not terms.budget_only
        return cls(terms, prices, differ, {} if groups is None else {key: groups[place_of[key]] for key in chosen})

    def sentence(self) -> str:
        """Say what the suggestions cost, what is left of the budget, and what the cap is; empty without either."""
        parts, terms = [], self.terms
        if self.prices:
            those = f"The {len(self.prices)} suggestions cost" if len(self.prices) > 1 else "The suggestion costs"
            total = sum(self.prices.values())
            parts.append(f"{those} {money(total)} in all.")
            if terms.budget is not None:
                left = money(max(0.0, terms.budget - total))
                parts[0] = f"{those} {money(total)} in all, of a budget of {money(terms.budget)}: {left} is left."
        if self.differ:
            parts.append("Prices were weighed: a dear molecule had to be better than a cheap one to be suggested.")
            if terms.budget is not None:
                parts.append("To let them count for the budget alone, pass --budget-only.")
        if terms.budget is not None and len(self.prices) < terms.count:
            parts.append(f"Nothing else on offer is that cheap, so there are fewer than the {terms.count} asked for.")
        if terms.at_most is not None:
            different = len({group for group in self.groups.values() if group})
            alone = sum(not group for group in self.groups.values())
            most = f"At most {terms.at_most}" if terms.at_most > 1 else "No two"
            without = f"; without one: {alone:,}" if alone else ""
            parts.append(
                f"{most} suggestions have the same {terms.per}; different ones in this batch: {different:,}{without}."
            )
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
        return prices + ([(self.terms.per or "", self.groups[identifier])] if self.groups else [])


def money(amount: float) -> str:
    """Write an amount with up to two decimals, and a smaller one with four digits."""
    return f"{amount:.4g}" if abs(amount) < 0.01 else f"{amount:.2f}".rstrip("0").rstrip(".")
