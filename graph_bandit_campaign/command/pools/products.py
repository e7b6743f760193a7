"""Rounds on a library of products: what is known of it, then the most promising products, list by list."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.pools.rounds import Known, Offer, Rounds, join_outside
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.constraints.limits.limits import Selection
from graph_bandit_campaign.constraints.limits.wishes import Requirement
from graph_bandit_campaign.model.choice import most_allowed
from graph_bandit_campaign.model.learner import DEFAULT, default_agent
from graph_bandit_campaign.model.made import LEAST_CHOICE, MOST_TAUGHT, ProductPool
from graph_bandit_campaign.pool.block import Cells
from graph_bandit_campaign.pool.descriptors import describe
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import unshield
from graph_bandit_env import MoleculeSet
from graph_bandit_env.pools.products import ProductLibrary, read_product_library
from graph_bandit_env.tables import Table

REACTION, PRICE = "reaction", "price"


class ProductRounds(Rounds):
    """A library of products, of which those that are looked at are made.

    Raises:
        ValueError, OSError: if a table cannot be read, or an option needs a list of all products.
    """

    refused = (
        *("near", "weights", "features", "sheet", "predictions", "slot", "ignore_column"),
        *("best_of", "directed", "skip_bad_rows"),
    )

    def __init__(self, settings: SuggestSettings, earlier: CampaignState | None) -> None:
        super().__init__(settings, earlier)
        self._refuse(["several goals"] * (len(settings.goals) > 1))
        self.library, self.remarks = read_product_library(settings.pool, settings.allow_outside)
        self.size, self.content = len(self.library), [self.library.digest]
        self._pool = ProductPool(self.library, settings.most_atoms, settings.salts)

    def _refuse(self, more: Sequence[str]) -> None:
        self.refuse("a table of molecules", "is a library of products, which are never listed as a whole.", more)

    def search(self, names: Collection[str], smiles: Collection[str] = ()) -> MoleculeSet:
        """Return the products of some names; products are not found by their structure."""
        return self._pool.take(self._pool.find({*names, *map(unshield, names)})) or self._pool.one()

    def read(self, tables: ResultTables) -> None:
        """Read the results, of one goal, on which there are no limits."""
        settings, self._columns = self.settings, product_columns(self.library)
        of_results = Columns(settings.target, settings.id, settings.smiles, noise=settings.noise)
        self.remarks = [*self.remarks, *self.read_tables(tables, self._columns, of_results)]
        on_results, limits = {goal.name for goal in self.goals}, map(Requirement.parse, settings.require)
        self._refuse([f"limits on results, `{limit.text}`" for limit in limits if limit.name in on_results])

    def know(self, state: CampaignState) -> Known:
        """Return the products that a campaign and other assays speak of."""
        others = {row.identifier for other in self.others for row in other.rows if not row.smiles}
        in_pool = self.search(state.known | others)
        return Known(in_pool, join_outside(in_pool, state, self.settings.most_atoms))

    def offer(self, campaign: Campaign) -> Offer:
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
        molecules = join_outside(in_pool, state, settings.most_atoms)
        selection, constraints = self._select(in_pool, len(molecules))
        agent = settings.agent if settings.agent not in (None, DEFAULT) else default_agent(molecules, count)
        described = describe(molecules, agent)
        if campaign.uses_columns:
            described = self._pool.add_forecasts(described, state)
        most_taught = MOST_TAUGHT if len(state.means()) > MOST_TAUGHT else None
        note = f"Of {self.size:,} products the {listed:,} most promising ones were made. All predictions are of these."
        if most_taught:
            note += f" The model of molecules learns from {most_taught:,} results, the best and others of all ranks."

        def others(ids: Sequence[str]) -> dict[str, list[str]]:
            return self.describe(partial(self._cells, ids), self._columns, [[] for _ in ids])

        return Offer(in_pool, described, selection, constraints, note, most_taught, others=others)

    def _select(self, molecules: MoleculeSet, count: int) -> tuple[Selection, BatchConstraints]:
        return self.select(molecules, self._cells(molecules.ids, self._columns), count)

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
