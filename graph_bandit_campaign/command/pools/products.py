"""Choose rounds from a library of products or combinations: known ones, then lists of the most promising ones."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.pools.actions import spell_limits
from graph_bandit_campaign.command.pools.rounds import Known, Offer, Rounds, join_outside
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.constraints.batch.offers import SCAFFOLD
from graph_bandit_campaign.constraints.limits.limits import Selection
from graph_bandit_campaign.constraints.limits.requirements import Requirement
from graph_bandit_campaign.model.choice import most_allowed
from graph_bandit_campaign.model.generated import LEAST_CHOICE, MOST_TAUGHT, ProductPool
from graph_bandit_campaign.model.learner import DEFAULT, default_agent
from graph_bandit_campaign.pool.block import Cells
from graph_bandit_campaign.pool.descriptors import describe
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import unshield
from graph_bandit_env import MoleculeSet, SlotSet
from graph_bandit_env.pools.products import ProductLibrary
from graph_bandit_env.tables import Table

REACTION, PRICE = "reaction", "price"


class ProductRounds(Rounds):
    """A library of products or combinations, which are made on demand.

    Args:
        settings: settings of the command.
        earlier: state of the campaign, or None.
        library: the library.
        remarks: remarks about omitted blocks.

    Raises:
        ValueError: if an option needs a list of all products, or needs molecules and the library has none.
    """

    refused = (
        *("target", "weights", "features", "sheet", "predictions", "slot", "ignore_column"),
        *("best_of", "directed", "skip_bad_rows"),
    )

    def __init__(
        self, settings: SuggestSettings, earlier: CampaignState | None, library: ProductLibrary, remarks: Sequence[str]
    ) -> None:
        super().__init__(settings, earlier)
        self.library, self.remarks, self.size, self.content = library, remarks, len(library), [library.digest]
        self._pool = ProductPool(library, settings.most_atoms, settings.salts)
        self._refuse(["several goals"] * (len(settings.goals) > 1))
        if not self._pool.has_reactions:
            self.slots = {slot.name: slot.name for slot in library.parts[0].slots}
            more = ["--smiles"] * (settings.smiles != "smiles") + ["--salts"] * (settings.salts != "merge")
            more += ["--encoder"] * bool(settings.encoder) + ["--forbid"] * bool(settings.forbid)
            more += [f"--group-by {SCAFFOLD}"] * (settings.group_by == SCAFFOLD)
            self.refuse("molecules", "holds combinations.", more)

    def _refuse(self, more: Sequence[str]) -> None:
        self.refuse("a table", "is a library whose products are never all listed.", more)

    def search(self, names: Collection[str], smiles: Collection[str] = ()) -> MoleculeSet | SlotSet:
        """Return the products with some names (structures are not searched), or combinations by name or by slots."""
        texts = smiles if self.slots else ()
        return self._pool.take(self._pool.find({*names, *map(unshield, names)}, texts)) or self._pool.one()

    def read(self, tables: ResultTables) -> None:
        """Read the results of the single goal. Limits on results are rejected."""
        settings, self._columns = self.settings, product_columns(self.library)
        of_results = Columns(settings.quantity, settings.id, settings.smiles, noise=settings.noise, slots=self.slots)
        more = self.read_tables(tables, self._columns, of_results, has_properties=not self.slots)
        self.remarks = [*self.remarks, *more]
        on_results, limits = {goal.name for goal in self.goals}, map(Requirement.parse, settings.require)
        self._refuse([f"limits on results, `{limit.text}`" for limit in limits if limit.name in on_results])
        if self.slots:
            spell_limits(self.limits, self.names, self.library.parts[0].slots)
        self._pool.hold(self.limits)

    def know(self, state: CampaignState) -> Known:
        """Return the products that occur in a campaign or in other assays."""
        others = {row.identifier for other in self.others for row in other.rows if not row.smiles}
        in_pool = self.search(state.known | others)
        return Known(in_pool, join_outside(in_pool, state, self.settings.most_atoms))

    def offer(self, campaign: Campaign) -> Offer:
        """Return the known products, and the most promising others.

        Raises:
            ValueError: if a cell cannot be read.
        """
        state, settings, count = campaign.state, self.settings, self.settings.n
        taken = {*state.settled(), *state.pending, *state.failed, *state.vetoes}

        def meeting(molecules: MoleculeSet | SlotSet, selection: Selection) -> NDArray[np.bool_]:
            new = np.array([name not in taken for name in molecules.ids], np.bool_)
            return np.logical_and(new, selection.mask)

        def is_enough(molecules: MoleculeSet | SlotSet) -> bool:
            selection, constraints = self._select(molecules, len(molecules))
            mask = meeting(molecules, selection)
            return int(mask.sum()) >= LEAST_CHOICE * count and most_allowed(mask, constraints) >= count

        in_pool, listed = self._pool.scan(state, count, lambda new: self._select(new, len(new))[0].mask, is_enough)
        molecules = join_outside(in_pool, state, settings.most_atoms)
        selection, constraints = self._select(in_pool, len(molecules))
        described = molecules
        if isinstance(molecules, MoleculeSet):
            agent = settings.agent if settings.agent not in (None, DEFAULT) else default_agent(molecules, count)
            described = describe(molecules, agent, settings.encoder)
            if campaign.uses_columns:
                described = self._pool.add_forecasts(described, state)
        most_taught = MOST_TAUGHT if len(state.means()) > MOST_TAUGHT else None
        what, done = ("combinations", "looked at") if self.slots else ("products", "made")
        note = f"The {listed:,} most promising of {self.size:,} {what} were {done} and predicted."
        if most_taught:
            note += f" The model learns from {most_taught:,} results, the best and others of all ranks."

        def others(ids: Sequence[str]) -> dict[str, list[str]]:
            own = [name for name in self._columns if name not in self.slots]
            return self.describe(partial(self._cells, ids), own, [[] for _ in ids])

        return Offer(in_pool, described, selection, constraints, note, most_taught, others=others)

    def _select(self, molecules: MoleculeSet | SlotSet, count: int) -> tuple[Selection, BatchConstraints]:
        return self.select(molecules, self._cells(molecules.ids, self._columns), count)

    def _cells(self, ids: Sequence[str], columns: Sequence[str]) -> Cells:
        """Return the cells of some products in some columns."""
        numbers = np.array([self.library.number_of(name) for name in ids], np.int64)
        parts, prices = self.library.part_of(numbers), self.library.prices_of(numbers)
        texts: dict[str, list[str]] = {name: [""] * len(ids) for name in columns}
        for k, (number, part) in enumerate(zip(numbers.tolist(), parts.tolist(), strict=True)):
            slots = self.library.parts[part].slots
            blocks = self.library.blocks_of([number], part)[0].tolist()
            texts_of = [slot.spelt if self.slots else slot.names for slot in slots]
            said = {slot.name: of[block] for slot, of, block in zip(slots, texts_of, blocks, strict=True)}
            said |= {REACTION: self.library.parts[part].name}
            said |= {PRICE: "" if math.isnan(prices[k]) else f"{prices[k]:.10g}"}
            for name in columns:
                texts[name][k] = said.get(name, "")
        every = np.arange(len(ids))
        return Cells(every, every, texts, Table(Path(self.settings.pool.name), ("id", *columns), ()))


def product_columns(library: ProductLibrary) -> tuple[str, ...]:
    """Return the columns of the products of a library: the reaction (if there are several), slots, and the price.

    Raises:
        ValueError: if a slot has the name of another column, ignoring case.
    """
    slots = dict.fromkeys(slot.name for part in library.parts for slot in part.slots)
    taken = ("id", "smiles", REACTION, PRICE)
    if wrong := [name for name in slots if name.casefold() in taken]:
        raise ValueError(f"Expected slots with other names than {', '.join(taken)}. Got `{wrong[0]}`. Rename it.")
    priced = any(slot.prices is not None for part in library.parts for slot in part.slots)
    return (*[REACTION] * (len(library.parts) > 1), *slots, *[PRICE] * priced)
