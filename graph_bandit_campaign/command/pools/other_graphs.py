"""Rounds on graphs that are not molecules, whose results are found by ids."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.pools.offer import Known, Offer
from graph_bandit_campaign.command.pools.refusals import refuse_for_graphs
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.limits.limits import Selection
from graph_bandit_campaign.pool.index import structure_of
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import GraphPool
from graph_bandit_env.files import read_pool


@dataclass(frozen=True)
class GraphRounds:
    """Graphs in memory, all of which are on offer."""

    pool: GraphPool
    """The graphs."""
    settings: SuggestSettings
    """Settings of the command."""

    def search(self, names: Collection[str], smiles: Collection[str]) -> GraphPool:
        """Return all graphs."""
        return self.pool

    def ids(self) -> Sequence[str]:
        """Return the ids of all graphs."""
        return self.pool.ids

    def know(self, state: CampaignState) -> Known[GraphPool]:
        """Return all graphs."""
        return Known(self.pool, self.pool)

    def offer(self, campaign: Campaign, known: Known[Any]) -> Offer:
        """Return all graphs."""
        count, terms = len(self.pool), self.settings.terms
        selection = Selection((), np.full(count, -1))
        constraints = terms.constraints(np.full(count, terms.one_price or 0.0), [""] * count, count)
        return Offer(self.pool, self.pool, selection, constraints)


def read_other_graphs(settings: SuggestSettings, earlier: CampaignState | None) -> tuple[GraphPool, bool]:
    """Read graphs.

    Args:
        settings: settings of the command.
        earlier: state of the campaign.

    Returns:
        The graphs without values, for the agent must not see what it is to find out; and whether the file has values.

    Raises:
        ValueError, OSError: if the file cannot be read, an option needs molecules, or an id is that of another graph
            than in earlier rounds.
        ImportError: if a package that reads the file is not installed.
    """
    refuse_for_graphs(settings)
    given = read_pool(settings.pool, identifier=settings.id, sheet=settings.sheet, directed=settings.directed)
    pool, structures = given.without_targets(), earlier.structures if earlier else {}
    for k, identifier in enumerate(pool.ids):
        if identifier in structures and structures[identifier] != structure_of(pool, k):
            undirected = " If the campaign began with undirected graphs, give `--directed False`." * pool.directed
            raise ValueError(
                f"Expected `{identifier}` to be the same graph as in earlier rounds. {settings.pool} has another "
                "one. Give each graph a name of its own, which `--id` finds, or use another --out to start a new "
                f"campaign.{undirected}"
            )
    return pool, bool(given.known.any())
