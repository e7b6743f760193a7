"""The graphs of a pool from which a batch is chosen: all of them, or the most promising ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.command.asked import Asked
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.constraints.batch.offers import find_offers, murcko_scaffolds
from graph_bandit_campaign.constraints.limits.limits import Selection
from graph_bandit_campaign.pool.block import Cells, join_cells, list_forms, other_columns
from graph_bandit_campaign.results.books import Books, match_molecules
from graph_bandit_campaign.results.rows import MeasuredRow
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import GraphPool, MoleculeSet

Graphs_co = TypeVar("Graphs_co", bound=GraphPool, covariant=True)


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
    is_part: bool = False
    """Whether the pool has more graphs than these."""
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
    """Graphs of a pool in memory, matched with the results: all, or those that results and earlier rounds speak of."""

    in_pool: Graphs_co
    """The graphs of the pool."""
    books: Books
    """The results."""
    graphs: Graphs_co
    """The same, then those that are measured or pending and not in the pool."""


def know(
    in_pool: MoleculeSet,
    rows: Mapping[str, Sequence[MeasuredRow]],
    asked: Asked,
    settings: SuggestSettings,
    earlier: CampaignState | None,
) -> Known[MoleculeSet]:
    """Match molecules of a pool with results and earlier rounds.

    Args:
        in_pool: the pool, or all of it that these speak of.
        rows: rows of results of each goal, by its name.
        asked: what is asked of the pool.
        settings: settings of the command.
        earlier: state of the campaign; None: there is none yet.

    Raises:
        ValueError: as `match_molecules`.
    """
    structures, pending = (earlier.structures, earlier.pending) if earlier else ({}, ())
    options = settings.trust_ids, settings.most_atoms, bool(asked.goals)
    books, molecules = match_molecules(rows, in_pool, structures, pending, *options)
    if settings.best_of is not None:
        books = books.best(settings.goals[0].sign > 0)
    return Known(in_pool, books, molecules)


def select(
    in_pool: MoleculeSet, cells: Cells, asked: Asked, settings: SuggestSettings, count: int
) -> tuple[Selection, BatchConstraints]:
    """Return the molecules that meet the limits and have a price if there are prices, and what a batch may hold.

    Args:
        in_pool: molecules of the pool.
        cells: cells of the columns that are asked for.
        asked: what is asked of the pool.
        settings: settings of the command.
        count: how many molecules there are in all, those of the pool first.

    Raises:
        ValueError: if a cell cannot be read.
    """
    columns, smiles = asked.names.read(cells, settings.skip_bad_rows), in_pool.smiles
    selection = asked.limits.select_rows(smiles, columns, settings.processes)
    offers = find_offers(settings.terms, columns, selection)
    if settings.per is not None and settings.per not in columns.texts:
        left = np.flatnonzero(selection.mask).tolist()
        scaffold_of = dict(zip(left, murcko_scaffolds([smiles[k] for k in left]), strict=True))
        offers = replace(offers, groups=[scaffold_of.get(k, "") for k in range(len(smiles))])
    return selection.with_known(settings.price or "", offers.priced), offers.constraints(settings.terms, count)


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
