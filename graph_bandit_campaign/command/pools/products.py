"""Rounds on a library of products: what is known of it, then the most promising products, list by list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.asked import Asked
from graph_bandit_campaign.command.pools.offer import Known, Offer, describe_others, know, select
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.constraints.limits.limits import Selection
from graph_bandit_campaign.model.choice import is_possible
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
        earlier: state of the campaign; None: there is none yet.
        asked: results and limits, with the columns that they name.
    """

    known: Known[MoleculeSet]
    """The products that results and earlier rounds speak of; another one if there are none."""

    def __init__(
        self, library: ProductLibrary, settings: SuggestSettings, earlier: CampaignState | None, asked: Asked
    ) -> None:
        self.library, self.settings, self.asked, self.earlier = library, settings, asked, earlier
        self._pool, self._columns = ProductPool(library, settings.most_atoms, settings.salts), product_columns(library)
        names = {row.identifier for rows in asked.rows.values() for row in rows}
        names |= {row.identifier for other in asked.others for row in other.rows if not row.smiles}
        names |= set(map(unshield, names)) | set(earlier.structures if earlier else ())
        names |= set(earlier.pending if earlier else ()) | settings.marked
        self.known = self._match(self._pool.take(self._pool.find(names)) or self._pool.one())

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
            return int(mask.sum()) >= LEAST_CHOICE * count and is_possible(count, mask, constraints)

        in_pool, listed = self._pool.scan(state, count, lambda new: self._select(new, len(new))[0].mask, is_enough)
        molecules = self._match(in_pool).graphs
        selection, constraints = self._select(in_pool, len(molecules))
        agent = settings.agent if settings.agent not in (None, DEFAULT) else default_agent(molecules, count)
        described = describe(molecules, agent)
        if campaign.uses_columns:
            described = self._pool.add_forecasts(described, state)
        note = f"Of {len(self.library):,} products the {listed:,} most promising ones were made"
        note += f", and {meeting(in_pool, selection).sum():,} meet the limits" if len(self.asked.limits) else ""
        note += ". All predictions and probabilities are of these: a better one may not have been made."
        note *= listed > 0
        most_taught = MOST_TAUGHT if len(state.means()) > MOST_TAUGHT else None
        if most_taught:
            note += (
                f" The model of molecules learns from {most_taught:,} results, the best half and others of all ranks."
            )

        def others(ids: Sequence[str]) -> dict[str, list[str]]:
            return describe_others(partial(self._cells, ids), self._columns, [[] for _ in ids], settings)

        return Offer(in_pool, described, selection, constraints, note, most_taught, is_part=True, others=others)

    def _select(self, molecules: MoleculeSet, count: int) -> tuple[Selection, BatchConstraints]:
        cells = self._cells(molecules.ids, self._columns)
        return select(molecules, cells, self.asked, self.settings, count)

    def _match(self, in_pool: MoleculeSet) -> Known[MoleculeSet]:
        return know(in_pool, self.asked.rows, self.asked, self.settings, self.earlier)

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
