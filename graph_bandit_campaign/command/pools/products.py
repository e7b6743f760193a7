"""Rounds on a library of products: what is known of it, then the most promising products, list by list."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.pools.offer import Known, Offer, describe_others, select, with_outside
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.command.wishes import Wishes
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.constraints.limits.limits import Selection
from graph_bandit_campaign.model.choice import most_allowed
from graph_bandit_campaign.model.learner import DEFAULT, default_agent
from graph_bandit_campaign.model.made import LEAST_CHOICE, MOST_TAUGHT, ProductPool
from graph_bandit_campaign.pool.block import Cells
from graph_bandit_campaign.pool.descriptors import describe
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import unshield
from graph_bandit_env import MoleculeSet
from graph_bandit_env.pools.products import ProductLibrary
from graph_bandit_env.tables import Table

REACTION, PRICE = "reaction", "price"


class ProductRounds:
    """Rounds on a library of products, of which those that are looked at are made.

    Args:
        library: the library.
        settings: settings of the command.
        wishes: limits and goals, with the columns that they name.
    """

    def __init__(self, library: ProductLibrary, settings: SuggestSettings, wishes: Wishes) -> None:
        self.library, self.settings, self.wishes = library, settings, wishes
        self._pool, self._columns = ProductPool(library, settings.most_atoms, settings.salts), product_columns(library)

    def search(self, names: Collection[str], smiles: Collection[str]) -> MoleculeSet:
        """Return the products of some names; products are not found by their structure."""
        return self._pool.take(self._pool.find({*names, *map(unshield, names)})) or self._pool.one()

    def ids(self) -> tuple[str, ...]:
        """Return nothing: products are not listed."""
        return ()

    def know(self, state: CampaignState) -> Known[MoleculeSet]:
        """Return the products that a campaign and other assays speak of."""
        others = {row.identifier for other in self.wishes.others for row in other.rows if not row.smiles}
        return with_outside(self.search(state.known | others, ()), state, self.settings.most_atoms)

    def offer(self, campaign: Campaign, known: Known[MoleculeSet]) -> Offer:
        """Return the products that are known, and the most promising others.

        Raises:
            ValueError: if a cell cannot be read.
        """
        state, settings, count = campaign.state, self.settings, self.settings.n
        taken = {*state.settled(), *state.pending, *state.failed, *state.vetoes}

        def meeting(molecules: MoleculeSet, selection: Selection) -> NDArray[np.bool_]:
            new = np.array([name not in taken for name in molecules.ids], np.bool_)
            return np.logical_and(new, selection.mask)

        def is_enough(molecules: MoleculeSet) -> bool:
            selection, constraints = self._select(molecules, len(molecules))
            mask = meeting(molecules, selection)
            return int(mask.sum()) >= LEAST_CHOICE * count and most_allowed(mask, constraints) >= count

        in_pool, listed = self._pool.scan(state, count, lambda new: self._select(new, len(new))[0].mask, is_enough)
        molecules = with_outside(in_pool, state, settings.most_atoms).graphs
        selection, constraints = self._select(in_pool, len(molecules))
        agent = settings.agent if settings.agent not in (None, DEFAULT) else default_agent(molecules, count)
        described = describe(molecules, agent)
        if campaign.uses_columns:
            described = self._pool.add_forecasts(described, state)
        note = f"Of {len(self.library):,} products the {listed:,} most promising ones were made"
        note += f", and {meeting(in_pool, selection).sum():,} meet the limits" if len(self.wishes.limits) else ""
        note += ". All predictions and probabilities are of these: a better one may not have been made."
        note *= listed > 0
        most_taught = MOST_TAUGHT if len(state.means()) > MOST_TAUGHT else None
        if most_taught:
            note += (
                f" The model of molecules learns from {most_taught:,} results, the best half and others of all ranks."
            )

        def others(ids: Sequence[str]) -> dict[str, list[str]]:
            return describe_others(partial(self._cells, ids), self._columns, [[] for _ in ids], settings)

        return Offer(in_pool, described, selection, constraints, note, most_taught, others=others)

    def _select(self, molecules: MoleculeSet, count: int) -> tuple[Selection, BatchConstraints]:
        cells = self._cells(molecules.ids, self._columns)
        return select(molecules, cells, self.wishes, self.settings, count)

    def _cells(self, ids: Sequence[str], columns: Sequence[str]) -> Cells:
        """Return what the columns of some products say."""
        numbers = np.array([self.library.number_of(name) for name in ids], np.int64)
        parts, prices = self.library.part_of(numbers), self.library.prices_of(numbers)
        texts: dict[str, list[str]] = {name: [""] * len(ids) for name in columns}
        for k, (number, part) in enumerate(zip(numbers.tolist(), parts.tolist(), strict=True)):
            slots = self.library.parts[part].slots
            blocks = self.library.blocks_of([number], part)[0].tolist()
            said = {slot.name: slot.ids[block] for slot, block in zip(slots, blocks, strict=True)}
            said |= {REACTION: self.library.parts[part].reaction.name}
            said |= {PRICE: "" if math.isnan(prices[k]) else f"{prices[k]:.10g}"}
            for name in columns:
                texts[name][k] = said.get(name, "")
        every = np.arange(len(ids))
        return Cells(every, every, texts, Table(Path(self.settings.pool.name), ("id", *columns), ()))


def product_columns(library: ProductLibrary) -> tuple[str, ...]:
    """Return the columns of the products of a library: its reaction, if there are several, slots, and the price.

    Raises:
        ValueError: if a slot has the name of another column, whose capitals do not count.
    """
    slots = dict.fromkeys(slot.name for part in library.parts for slot in part.slots)
    taken = ("id", "smiles", REACTION, PRICE)
    if wrong := [name for name in slots if name.casefold() in taken]:
        raise ValueError(f"Expected slots with other names than {', '.join(taken)}. Got `{wrong[0]}`. Rename it.")
    priced = any(slot.prices is not None for part in library.parts for slot in part.slots)
    return (*[REACTION] * (len(library.parts) > 1), *slots, *[PRICE] * priced)
