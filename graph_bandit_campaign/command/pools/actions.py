"""Choose rounds from a table whose rows are actions of several slots, such as reactions and their conditions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.pools.rounds import Known, Offer, Rounds, join_outside
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.offers import SCAFFOLD
from graph_bandit_campaign.constraints.limits.limits import ColumnNames, Limits
from graph_bandit_campaign.pool.actions import open_actions
from graph_bandit_campaign.pool.block import Cells
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env.pools import Slot, SlotSet


class ActionRounds(Rounds):
    """The actions of a table, all of them candidates.

    Raises:
        ValueError, OSError: if the table cannot be read, an option needs molecules, or an id was another action in
            earlier rounds.
        ImportError: if a package for reading the file is not installed.
    """

    refused = ("features", "encoder", "forbid", "salts", "directed", "allow_outside")

    def __init__(self, settings: SuggestSettings, earlier: CampaignState | None) -> None:
        super().__init__(settings, earlier)
        self.table = table = open_actions(settings.source)
        self.pool, self.size, self.slots = table.actions, len(table.actions), table.columns
        more = [f"--smiles {settings.smiles}"] * (settings.smiles not in ("smiles", *table.columns.values()))
        more += [f"--group-by {SCAFFOLD}"] * (settings.group_by == SCAFFOLD and SCAFFOLD not in table.cells)
        self.refuse("molecules", "holds actions of several slots.", more)
        known = earlier.structures if earlier else {}
        for name, text in zip(self.pool.ids, self.pool.texts, strict=True):
            if known.get(name, text) != text:
                raise ValueError(
                    f"`{name}` was {known[name]} in earlier rounds, and is {text} in the pool. Correct it."
                )

    def search(self, names: Collection[str], smiles: Collection[str] = ()) -> SlotSet:
        """Return all actions."""
        return self.pool

    def read(self, tables: ResultTables) -> None:
        """Read the results, and find the columns of limits, prices and groups in the table."""
        settings, table = self.settings, self.table
        columns = [*dict.fromkeys((*table.columns, *table.cells))]
        of_results = Columns(settings.quantity, settings.id, noise=settings.noise, slots=table.columns)
        of_tables = self.read_tables(tables, columns, of_results, has_properties=False)
        spell_limits(self.limits, self.names, self.pool.slots)
        self.leave_out(lambda: (table.body.where(number) for number, _ in table.bad))
        self.refuse_differing(table.differing)
        read = {name: table.cells[name] for name in self.names.columns if name in table.cells}
        self.content = [self.pool.ids, self.pool.texts, read]
        merged = f"{len(table.owners) - self.size:,} rows of equal actions merged"
        self.remarks = [*table.remarks, *[merged] * (len(table.owners) > self.size)]
        self.remarks += [f"{len(table.bad):,} bad rows left out"] * bool(table.bad)
        self.remarks += [*self.values_in_pool([*table.cells], lambda name: [table.cells[name]]), *of_tables]

    def know(self, state: CampaignState) -> Known:
        """Return all actions, and those of results outside the table."""
        return Known(self.pool, join_outside(self.pool, state, self.settings.most_atoms))

    def offer(self, campaign: Campaign) -> Offer:
        """Return all actions.

        Raises:
            ValueError: if a cell cannot be read.
        """
        known, every = self.know(campaign.state), np.arange(self.size)
        selection, constraints = self.select(self.pool, self._cells(every, self.names.columns), len(known.graphs))

        def others(ids: Sequence[str]) -> dict[str, list[str]]:
            index_of = {name: k for k, name in enumerate(self.pool.ids)}
            actions = np.array([index_of[name] for name in ids], np.int64)
            return self.describe(lambda names: self._cells(actions, names), [*self.table.cells], [[] for _ in ids])

        note = selection.describe().replace("molecules", "experiments", 1)
        return Offer(self.pool, known.graphs, selection, constraints, note, others=others)

    def _cells(self, actions: NDArray[np.int64], columns: Sequence[str]) -> Cells:
        """Return the cells of some columns and slots for some actions."""
        table, place_of = self.table, np.full(self.size, -1)
        place_of[actions] = np.arange(len(actions))
        places = place_of[table.owners]
        rows = np.flatnonzero(places >= 0)
        rows = rows[np.argsort(places[rows], kind="stable")]
        texts = {name: [table.cells[name][k] for k in rows.tolist()] for name in columns if name in table.cells}
        for slot, choices in zip(self.pool.slots, self.pool.places.T, strict=True):
            if slot.name in columns:
                texts[slot.name] = [slot.spelt[k] for k in choices[table.owners[rows]].tolist()]
        return Cells(places[rows], table.lines[rows], texts, table.body)


def spell_limits(limits: Limits, names: ColumnNames, slots: Sequence[Slot]) -> None:
    """Spell the choices in limits on slots as the slots do.

    Args:
        limits: the limits, which are changed in place.
        names: the columns of the limits.
        slots: slots of the actions.

    Raises:
        ValueError: if a limit is on a property, which only molecules have, or a choice cannot be read.
    """
    slot_of = {slot.name.casefold(): slot for slot in slots}
    limits.choices = tuple(
        replace(choice, values=tuple(map(slot.spell, choice.values)))
        if (slot := slot_of.get(choice.name.casefold()))
        else choice
        for choice in limits.choices
    )
    if text := next((limit.text for limit in limits.requirements if limit.name not in names.numbers), ""):
        raise ValueError(f"Only molecules have properties to limit. Limit columns of the table. Got {text}.")
