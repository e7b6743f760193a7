"""Rounds on a library of products: what is known of it, then the most promising products, list by list."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.asked import Asked
from graph_bandit_campaign.command.pools.offer import Offer, describe_others, select
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.constraints.limits.wishes import Requirement
from graph_bandit_campaign.model.choice import is_possible
from graph_bandit_campaign.model.learner import DEFAULT, default_agent
from graph_bandit_campaign.model.made import (
    LEAST_CHOICE,
    MOST_TAUGHT,
    add_forecasts,
    can_be_made,
    learn_blocks,
    read_products,
)
from graph_bandit_campaign.model.products import ProductLists, read_kernels
from graph_bandit_campaign.pool.block import Cells
from graph_bandit_campaign.pool.descriptors import describe
from graph_bandit_campaign.results.books import Books, match_molecules
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import unshield
from graph_bandit_env import MoleculeSet
from graph_bandit_env.pools.products import ProductLibrary
from graph_bandit_env.tables import Table

UNDERSTOOD = {
    *(
        "pool",
        "out",
        "measured",
        "n",
        "maximize",
        "minimize",
        "noise",
        "goal_kind",
        "smiles",
        "id",
        "measured_sheet",
        "require",
    ),
    *("forbid", "only", "price", "budget", "budget_only", "at_most", "per", "ignore_failures", "html", "agent"),
    *("seed", "workers", "undo", "forget", "again", "more", "overwrite", "trust_ids", "most_atoms", "salts"),
    *("allow_outside", "also", "veto", "pin", "lift", "comment", "by"),
}
"""Settings that a library of products knows. All others are refused, so that none is ignored in silence."""
REACTION, SLOT, PRICE = "reaction", "slot", "price"


@dataclass(frozen=True, eq=False)
class Known:
    """The products that results and earlier rounds speak of, matched with the results."""

    in_pool: MoleculeSet
    """The products."""
    books: Books
    """The results."""
    molecules: MoleculeSet
    """These products, then the molecules that are measured or pending and not in the library."""


@dataclass(frozen=True)
class ProductRounds:
    """A library of products, of which those that are looked at are made."""

    library: ProductLibrary
    settings: SuggestSettings
    earlier: CampaignState | None
    """State of the campaign; None: there is none yet."""
    asked: Asked
    """Results and limits, with the columns that they name."""

    @cached_property
    def known(self) -> Known:
        """Return the products that results and earlier rounds speak of; another one if there are none."""
        names = {row.identifier for rows in self.asked.rows.values() for row in rows}
        names |= {row.identifier for other in self.asked.others for row in other.rows if not row.smiles}
        names |= set(map(unshield, names)) | set(self.earlier.structures if self.earlier else ())
        names |= set(self.earlier.pending if self.earlier else ()) | self.settings.marked
        numbers = {number for name in names if (number := self.library.number_of(name)) is not None}
        return self._match(np.array(sorted(numbers), np.int64))

    def offer(self, campaign: Campaign) -> Offer:
        """Return the products that are known, and the most promising others.

        Raises:
            ValueError: if a cell cannot be read.
        """
        state = campaign.state
        beliefs, taken = learn_blocks(self.library, read_kernels(self.library), state)
        numbers = {*taken.values()}
        offer = self._make(np.array(sorted(numbers), np.int64), ProductLists(beliefs, state.seed).after(numbers))
        if campaign.uses_columns and isinstance(offer.graphs, MoleculeSet):
            offer = replace(offer, graphs=add_forecasts(offer.graphs, beliefs))
        if len(state.means()) > MOST_TAUGHT:
            note = f"The model of molecules learns from {MOST_TAUGHT:,} results, the best half and others of all ranks."
            offer = replace(offer, note=f"{offer.note} {note}", most_taught=MOST_TAUGHT)
        return offer

    def _make(self, taken: NDArray[np.int64], lists: Iterator[NDArray[np.int64]]) -> Offer:
        """Return the products that are taken, and those of as many lists as it takes to choose a batch well.

        Of the lists, only what meets the limits is kept.
        """
        settings, kept, listed = self.settings, taken, 0
        while True:
            following = next(lists, np.zeros(0, np.int64))
            listed, kept = listed + len(following), np.concatenate([kept, self._meeting(following)])
            matched = self._match(kept)
            in_pool, molecules = matched.in_pool, matched.molecules
            cells = self._cells(in_pool.ids, self.columns)
            selection, constraints = select(in_pool.smiles, cells, self.asked, settings, len(molecules))
            mask = np.zeros(len(molecules), np.bool_)
            mask[: len(in_pool)] = selection.mask & ~np.isin(self._numbers(in_pool.ids), taken)
            enough = mask.sum() >= LEAST_CHOICE * settings.n and is_possible(settings.n, mask, constraints)
            if enough or not len(following):
                break
        agent = settings.agent if settings.agent not in (None, DEFAULT) else default_agent(molecules, settings.n)
        described = describe(molecules, [agent], settings.processes)

        def others(ids: Sequence[str]) -> dict[str, list[str]]:
            return describe_others(partial(self._cells, ids), self.columns, [[] for _ in ids], settings)

        note = f"Of {len(self.library):,} products the {listed:,} most promising ones were made"
        note += f", and {mask.sum():,} meet the limits" if len(self.asked.limits) else ""
        note += ". All predictions and probabilities are of these: a better one may not have been made."
        return Offer(in_pool, described, selection, constraints, note, is_part=True, others=others)

    def _meeting(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of those products that can be made and meet the limits."""
        numbers = can_be_made(self.library, numbers)
        made = self.library.make(numbers)
        smiles, ids = [product.smiles for product in made], [product.id for product in made]
        selection, _ = select(smiles, self._cells(ids, self.columns), self.asked, self.settings, len(ids))
        return numbers[selection.mask]

    def _numbers(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of products of the library."""
        return np.array([self.library.number_of(name) for name in ids], np.int64)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of a product: its reaction, the block of each slot, and its price."""
        return product_columns(self.library)

    def _match(self, numbers: NDArray[np.int64]) -> Known:
        """Make products, and match them with the results. If there is none, the first that can be made is taken."""
        settings = self.settings
        made = can_be_made(self.library, numbers, least=1)
        in_pool = read_products(self.library, made, settings.most_atoms, settings.salts)
        structures, pending = (self.earlier.structures, self.earlier.pending) if self.earlier else ({}, ())
        options = settings.trust_ids, settings.most_atoms, False
        books, molecules = match_molecules(self.asked.rows, in_pool, structures, pending, *options)
        return Known(in_pool, books, molecules)

    def _cells(self, ids: Sequence[str], columns: Sequence[str]) -> Cells:
        """Return what the columns of some products say."""
        numbers = self._numbers(ids)
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


def refuse_options(settings: SuggestSettings, goals: Sequence[Goal] = ()) -> None:
    """Refuse settings that a library of products does not know.

    Args:
        settings: settings of the command.
        goals: the aims that the results make of them, limits on results included; empty with one goal.

    Raises:
        ValueError: if one is given.
    """
    fields = dataclasses.fields(SuggestSettings)
    changed = [field.name for field in fields if getattr(settings, field.name) != field.default]
    bad = [f"--{name.replace('_', '-')}" for name in changed if name not in UNDERSTOOD]
    bad += ["several goals"] * (len(settings.goals) > 1)
    of_results = {goal.name for goal in goals if goal.aim == "limit"}
    limits = map(Requirement.parse, settings.require)
    bad += [f"limits on results, `{limit.text}`" for limit in limits if limit.name in of_results]
    if bad:
        raise ValueError(
            f"Expected a table of molecules for {', '.join(bad)}. {settings.pool} is a library of products, which are "
            "never listed as a whole. Leave these out."
        )
