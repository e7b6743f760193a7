"""Take from the rows of a pool what each molecule costs, and its group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.limits.columns import LimitColumns
from graph_bandit_campaign.limits.names import find_column, hint_at
from graph_bandit_campaign.limits.selection import Selection
from graph_bandit_campaign.plates.plate import Plate
from graph_bandit_campaign.plates.scaffolds import murcko_scaffolds
from graph_bandit_campaign.plates.terms import Terms

SCAFFOLD = "scaffold"  # a group that is computed, unless the pool has a column of this name


@dataclass(frozen=True, eq=False)
class Offers:
    """Price and group of each molecule of a pool."""

    prices: NDArray[np.float64]
    """`(K,)` price of each molecule, NaN where it is not known; 0 if prices do not count."""
    groups: Sequence[str]
    """`(K,)` group of each molecule, empty where there is none."""

    @property
    def priced(self) -> NDArray[np.bool_]:
        """Return which molecules have a known price, `(K,)`; all of them if prices do not count."""
        return ~np.isnan(self.prices)

    def plate(self, settings: Terms, count: int) -> Plate:
        """Return what a batch may cost and hold.

        Args:
            settings: what the user said.
            count: how many molecules there are, those of the pool first; the others are not suggested.
        """
        others = count - len(self.prices)
        prices = np.concatenate([self.prices, np.full(others, np.nan)])
        return Plate(
            prices=None if settings.price is None else prices,
            budget=settings.budget,
            groups=None if settings.per is None else [*self.groups, *[""] * others],
            at_most=settings.at_most,
            budget_only=settings.budget_only,
        )


def find_offer_columns(settings: Terms, columns: Sequence[str], source: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns of prices and of groups, by the names that the user gave; none where there is no need of one.

    Args:
        settings: what the user said.
        columns: all columns that there are.
        source: where they are, for messages.

    Raises:
        ValueError: if there is no such column.
    """
    prices, groups = {}, {}
    if settings.price is not None and settings.one_price is None:
        prices[settings.price] = _column("price", settings.price, columns, source, "give one price, such as 12.5")
    if settings.per is not None and (settings.per != SCAFFOLD or find_column(SCAFFOLD, columns, source)):
        groups[settings.per] = _column("per", settings.per, columns, source, f"group by {SCAFFOLD}")
    return prices, groups


def find_offers(settings: Terms, columns: LimitColumns, selection: Selection, smiles: Sequence[str]) -> Offers:
    """Return price and group of each molecule: those of its cheapest row that meets all limits on columns.

    Of equally cheap rows the first counts. Scaffolds are computed for the molecules that meet the limits.

    Args:
        settings: what the user said.
        columns: rows of the columns of prices and groups, by the names that the user gave.
        selection: the molecules and rows that meet the limits.
        smiles: K SMILES.
    """
    prices, groups = np.full(len(smiles), settings.one_price or 0.0), [""] * len(smiles)
    given, named = columns.numbers.get(settings.price or ""), columns.texts.get(settings.per or "")
    rows = np.flatnonzero(selection.rows)
    if given is not None:
        rows = rows[np.argsort(np.asarray(given, np.float64)[rows], kind="stable")]  # NaN comes last
    molecules, firsts = np.unique(np.asarray(columns.owners, np.int64)[rows], return_index=True)
    if given is not None:
        prices[:] = np.nan
        prices[molecules] = np.asarray(given, np.float64)[rows[firsts]]
    if named is not None:
        for molecule, row in zip(molecules.tolist(), rows[firsts].tolist(), strict=True):
            groups[molecule] = named[row]
    elif settings.per is not None:
        left = np.flatnonzero(selection.mask).tolist()
        for molecule, scaffold in zip(left, murcko_scaffolds([smiles[place] for place in left]), strict=True):
            groups[molecule] = scaffold
    return Offers(prices, groups)


def _column(option: str, name: str, columns: Iterable[str], source: str, instead: str) -> str:
    names = tuple(filter(None, columns))
    column = find_column(name, names, source)
    if not column:
        listed = f"It has {', '.join(names)}" if names else "There are no columns"
        raise ValueError(
            f"Expected `--{option} {name}` to name a column of {source}. {listed}. Correct the name, or {instead}."
            f"{hint_at(name, names)}"
        )
    return column
