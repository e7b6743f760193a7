"""The graphs of a pool from which a batch is chosen: all of them, or the most promising ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.command.wishes import Wishes
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.constraints.batch.offers import find_offers, murcko_scaffolds
from graph_bandit_campaign.constraints.limits.limits import Selection
from graph_bandit_campaign.pool.block import Cells, join_cells, list_forms, other_columns
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import GraphPool, MoleculeSet, from_smiles

Graphs_co = TypeVar("Graphs_co", bound=GraphPool, covariant=True)
Molecules = TypeVar("Molecules", bound=MoleculeSet)


@dataclass(frozen=True, eq=False)
class Offer:
    """The graphs that are in memory, from which a batch is chosen."""

    in_pool: GraphPool
    """Those of the pool."""
    graphs: GraphPool
    """The same, then those that are measured or pending and not in the pool."""
    selection: Selection
    """Those of `here` that meet the limits, and whose price is known if there are prices."""
    constraints: BatchConstraints
    """Prices, budget and caps of all."""
    note: str = ""
    """How many graphs of the pool the limits leave; empty without limits."""
    most_taught: int | None = None
    """How many graphs with results the agent learns from; None: all."""
    others: Callable[[Sequence[str]], Mapping[str, Sequence[str]]] | None = None
    """Returns the texts of the pool's other columns for molecules of some ids; None: graphs have no columns."""
    predictions: Callable[..., Iterable[bytes]] | None = None
    """Given campaign and answer, returns the table of predictions for all of the pool, if `here` is a part of it."""

    @property
    def offered(self) -> NDArray[np.bool_]:
        """Return which of `graphs` are of the pool, `(K,)`."""
        return np.arange(len(self.graphs)) < len(self.in_pool)

    @property
    def among(self) -> NDArray[np.bool_]:
        """Return which of `graphs` meet the limits, `(K,)`."""
        among = np.zeros(len(self.graphs), np.bool_)
        among[: len(self.in_pool)] = self.selection.mask
        return among

    def has_left(self, taken: Sequence[int]) -> bool:
        """Return whether any graph is left to choose.

        Args:
            taken: indices of graphs of `in_pool` that are measured, pending, failed or vetoed.

        Raises:
            ValueError: if the limits leave no graph.
        """
        if not self.selection.mask.any():
            raise ValueError(f"Expected limits that some molecules meet. None does. {self.note}")
        return bool(np.delete(self.selection.mask, list(taken)).any())


@dataclass(frozen=True, eq=False)
class Known(Generic[Graphs_co]):
    """Graphs of a pool in memory: all, or those that results and earlier rounds speak of."""

    in_pool: Graphs_co
    """The graphs of the pool."""
    graphs: Graphs_co
    """The same, then those that are measured, failed or pending and not in the pool."""


class Rounds(Protocol):
    """A pool of any kind, from which rounds are chosen; `offer` takes what `know` returns."""

    def search(self, names: Collection[str], smiles: Collection[str]) -> GraphPool:
        """Return the graphs that may have some names or structures, or a first one if there are none."""

    def ids(self) -> Iterable[str]:
        """Return the ids of all graphs that are listed."""

    def know(self, state: CampaignState) -> Known[Any]:
        """Return the graphs that a campaign speaks of, or all."""

    def offer(self, campaign: Campaign, known: Known[Any]) -> Offer:
        """Return the graphs from which a batch is chosen, given a campaign with all results, and what it knows."""


def with_outside(in_pool: Molecules, state: CampaignState, most_atoms: int) -> Known[Molecules]:
    """Return molecules of a pool, then those that a campaign has measured, or waits for, and that are not among them.

    Args:
        in_pool: the pool, or all of it that the campaign speaks of.
        state: state of the campaign.
        most_atoms: how many atoms a molecule may have, without hydrogens.
    """
    ids, structures = {*in_pool.ids, *in_pool.aliases}, {*in_pool.smiles}
    wanted = (*(each.id for each in state.results), *state.pending)
    missing = (key for key in dict.fromkeys(wanted) if key not in ids and key in state.structures)
    outside = {key: state.structures[key] for key in missing if state.structures[key] not in structures}
    if not outside:
        return Known(in_pool, in_pool)
    others = from_smiles(list(outside.values()), ids=list(outside), most_atoms=most_atoms, salts=in_pool.salts)
    return Known(in_pool, cast(Molecules, in_pool.join(others)))


def select(
    in_pool: MoleculeSet, cells: Cells, wishes: Wishes, settings: SuggestSettings, count: int
) -> tuple[Selection, BatchConstraints]:
    """Return the molecules that meet the limits and have a price if there are prices, and what a batch may hold.

    Args:
        in_pool: molecules of the pool.
        cells: cells of the columns that are asked for.
        wishes: what is asked of the pool.
        settings: settings of the command.
        count: how many molecules there are in all, those of the pool first.

    Raises:
        ValueError: if a cell cannot be read.
    """
    columns, smiles = wishes.names.read(cells, settings.skip_bad_rows), in_pool.smiles
    selection = wishes.limits.select_rows(smiles, columns, settings.processes)
    prices, groups = find_offers(settings.terms, columns, selection)
    if settings.per is not None and settings.per not in columns.texts:
        left = np.flatnonzero(selection.mask).tolist()
        scaffold_of = dict(zip(left, murcko_scaffolds([smiles[k] for k in left]), strict=True))
        groups = [scaffold_of.get(k, "") for k in range(len(smiles))]
    known = selection.with_known(settings.price or "", ~np.isnan(prices))
    return known, settings.terms.constraints(prices, groups, count)


def describe_others(
    cells: Callable[[Sequence[str]], Cells],
    columns: Sequence[str],
    forms: Sequence[Sequence[tuple[str, str]]],
    settings: SuggestSettings,
) -> dict[str, list[str]]:
    """Return the texts of the pool's other columns, and of other rows, for some molecules.

    Args:
        cells: returns the cells of some columns of these molecules.
        columns: columns of the pool.
        forms: names and SMILES of the rows that repeat each molecule.
        settings: settings of the command.
    """
    asked = other_columns(columns, (*settings.quantities, settings.noise, settings.price, settings.per))
    return list_forms(forms) | (join_cells(cells(asked), len(forms)) if asked else {})
