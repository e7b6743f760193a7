"""Choose rounds from graphs that are not molecules. Results are matched by id."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.pools.rounds import Known, Offer, Rounds
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.limits.limits import Selection
from graph_bandit_campaign.pool.index import structure_of
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import GraphPool, SlotSet
from graph_bandit_env.files import digest, read_pool


class GraphRounds(Rounds):
    """Graphs in memory, all of them candidates. The values in their file are not results.

    Raises:
        ValueError, OSError: if the file cannot be read, an option needs molecules, or an id was another graph in
            earlier rounds.
        ImportError: if a package for reading the file is not installed.
    """

    refused = (
        *("smiles", "features", "encoder", "forbid", "filter", "max_per_group", "group_by", "ignore_failures"),
        *("workers", "most_atoms", "salts", "slot", "ignore_column", "best_of", "skip_bad_rows"),
        "allow_outside",
    )

    def __init__(self, settings: SuggestSettings, earlier: CampaignState | None) -> None:
        super().__init__(settings, earlier)
        bad = [f"--price {settings.price}"] * (settings.price is not None and settings.terms.one_price is None)
        self.refuse("molecules", "holds other graphs.", bad)
        given = read_pool(settings.pool, identifier=settings.id, sheet=settings.sheet, directed=settings.directed)
        slots = {slot.name.casefold() for slot in given.slots} if isinstance(given, SlotSet) else set()
        if held := slots.intersection(map(str.casefold, settings.quantities)):
            raise ValueError(
                f"Expected {settings.pool.name} without `{min(held)}`, which would be a slot. Take it out."
            )
        self.pool: GraphPool = given.without_targets()  # hide the values from the agent
        self.remarks = [f"the values in {settings.pool.name} are not used as results"] * bool(given.known.any())
        self.size, structures = len(self.pool), earlier.structures if earlier else {}
        for k, identifier in enumerate(self.pool.ids):
            if identifier in structures and structures[identifier] != structure_of(self.pool, k):
                hint = " If the campaign began with undirected graphs, give `--directed False`." * self.pool.directed
                raise ValueError(f"`{identifier}` was another graph in earlier rounds. Give this one another id.{hint}")

    def search(self, names: Collection[str], smiles: Collection[str] = ()) -> GraphPool:
        """Return all graphs."""
        return self.pool

    def read(self, tables: ResultTables) -> None:
        """Read the results. Only limits on results are allowed."""
        settings = self.settings
        of_results = Columns(settings.quantity, settings.id, noise=settings.noise)
        self.remarks = [*self.remarks, *self.read_tables(tables, (), of_results, has_properties=False)]
        if len(self.limits):
            limits = ", ".join(limit.text for limit in self.limits.requirements)
            raise ValueError(f"Only molecules have properties to limit. Limit columns of the results. Got {limits}.")
        self.content = [self.pool.ids, digest(self.pool)]

    def know(self, state: CampaignState) -> Known:
        """Return all graphs."""
        return Known(self.pool, self.pool)

    def offer(self, campaign: Campaign) -> Offer:
        """Return all graphs."""
        count, terms = self.size, self.settings.terms
        selection = Selection((), np.full(count, -1))
        constraints = terms.constraints(np.full(count, terms.one_price or 0.0), [""] * count, count)
        return Offer(self.pool, self.pool, selection, constraints)
