"""Choose batches from a pool of any kind: its data, and the graphs on offer."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.assays.tables import OtherTable, read_other_tables
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.checks import Kind
from graph_bandit_campaign.command.results import read_results, split_limits
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.batch import BatchConstraints
from graph_bandit_campaign.constraints.batch.offers import find_offer_columns, find_offers, murcko_scaffolds
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.constraints.limits.limits import ColumnNames, Limits, Selection
from graph_bandit_campaign.pool.block import Cells, join_cells, list_forms, other_columns
from graph_bandit_campaign.results.rows import Columns, MeasuredRow, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import are_one, split_name
from graph_bandit_env import GraphPool, MoleculeSet, SlotSet, from_smiles
from graph_bandit_env.tables import refuse_differing

Molecules = TypeVar("Molecules", bound=MoleculeSet | SlotSet)


@dataclass(frozen=True, eq=False)
class Known:
    """Graphs of a pool in memory: all, or those in results and earlier rounds."""

    in_pool: GraphPool
    """The graphs of the pool."""
    graphs: GraphPool
    """The same graphs, followed by measured, failed or pending graphs outside the pool."""

    def of_pool(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Extend a mask of `in_pool` to a mask of `graphs`, `(K,)`. The other graphs are not on offer."""
        return np.concatenate([mask, np.zeros(len(self.graphs) - len(self.in_pool), np.bool_)])


@dataclass(frozen=True, eq=False)
class Offer(Known):
    """The graphs from which a batch is chosen."""

    selection: Selection
    """Graphs of `in_pool` that meet the limits, and have a known price if there are prices."""
    constraints: BatchConstraints
    """Prices, budget and caps for all graphs."""
    note: str = ""
    """Number of graphs of the pool that meet the limits. Empty without limits."""
    most_taught: int | None = None
    """Maximum number of graphs with results for training. None means all."""
    others: Callable[[Sequence[str]], Mapping[str, Sequence[str]]] | None = None
    """Returns the texts of the pool's other columns for molecules, by id. None if graphs have no columns."""
    predictions: Callable[..., Iterable[bytes]] | None = None
    """Returns the table of predictions for the whole pool, given campaign and answer. None if `in_pool` is complete."""

    @property
    def among(self) -> NDArray[np.bool_]:
        """Return a mask of the `graphs` that meet the limits, `(K,)`."""
        return self.of_pool(self.selection.mask)


class Rounds(ABC):
    """A pool from which rounds are chosen. Call `read` before `know` and `offer`, but not before `search`.

    Args:
        settings: settings of the command.
        earlier: state of the campaign, or None.
    """

    refused: ClassVar[Collection[str]] = ()
    """Settings that this kind of pool does not support. They are rejected instead of ignored silently."""
    size: int
    """Number of graphs in the pool."""
    remarks: Sequence[str] = ()
    """Remarks about pool and tables, for people."""
    content: list[object]
    """Content of the pool and other files, except results."""
    own: Sequence[str] = ()
    """The user's own columns of numbers in the tables."""
    limits: Limits
    """Limits on known properties of each graph of the pool."""
    goals: tuple[Goal, ...]
    """The aim for each measured quantity, including limits on results. Empty for a single goal."""
    names: ColumnNames
    """The columns of the pool for limits, prices and groups."""
    slots: Mapping[str, str] = MappingProxyType({})
    """Column of each slot of actions, by the name of the slot. Empty if the pool has no actions of slots."""
    rows: dict[str, list[MeasuredRow]]
    """Rows of results of each goal, by its name."""
    kind: Kind
    """Kind of the values of a single goal, if known."""
    others: Sequence[OtherTable]
    """Rows of results of other assays."""

    def __init__(self, settings: SuggestSettings, earlier: CampaignState | None) -> None:
        self.settings, self.earlier = settings, earlier

    def refuse(self, wanted: str, is_not: str, more: Sequence[str] = ()) -> None:
        """Raise an error for settings that this kind of pool does not support.

        Args:
            wanted: kind of pool that the settings need.
            is_not: explanation of the mismatch.
            more: other unsupported requests.

        Raises:
            ValueError: if there are unsupported settings or requests.
        """
        fields = (field for field in dataclasses.fields(SuggestSettings) if field.name in self.refused)
        changed = [field.name for field in fields if getattr(self.settings, field.name) != field.default]
        if bad := [*(f"--{name.replace('_', '-')}" for name in changed), *more]:
            raise ValueError(f"Expected {wanted} for {', '.join(bad)}. {self.settings.pool} {is_not} Leave these out.")

    @abstractmethod
    def search(self, names: Collection[str], smiles: Collection[str] = ()) -> GraphPool:
        """Return the graphs that may have some names or structures, or the first graph if there are none."""

    @abstractmethod
    def read(self, tables: ResultTables) -> None:
        """Read the results, and the columns and files in the settings.

        Raises:
            ValueError, OSError: if a table cannot be read, or the pool does not fit into memory.
            ImportError: if a package for reading a table is not installed.
        """

    @abstractmethod
    def know(self, state: CampaignState) -> Known:
        """Return the graphs that occur in a campaign, or all."""

    @abstractmethod
    def offer(self, campaign: Campaign) -> Offer:
        """Return the candidates of a batch, given a campaign with all results on the known graphs."""

    def read_tables(
        self, tables: ResultTables, columns: Sequence[str], of_results: Columns, has_properties: bool = True
    ) -> list[str]:
        """Read the results, find the columns of limits, prices and groups, and return remarks for people.

        Args:
            tables: the tables of results.
            columns: columns of the pool.
            of_results: columns of the tables of results.
            has_properties: True if the pool holds molecules, whose properties limits may name.

        Raises:
            ValueError: if a column is missing, no row has a result, or rows of results are invalid.
        """
        settings, source = self.settings, str(self.settings.pool)
        self.limits, self.goals = split_limits(settings, columns, tables, self.earlier, has_properties)
        if self.goals and settings.noise:
            raise ValueError("Expected `--noise` with one goal, whose values it is the noise of. Got several.")
        numbers, texts = self.limits.find_columns(columns, source)
        prices, groups = find_offer_columns(settings.terms, columns, source)
        self.names = ColumnNames(numbers | prices, texts | groups)
        measured = [goal.name for goal in self.goals] or [of_results.value]
        self.others = read_other_tables(settings.related_assay, of_results.identifier, of_results.smiles, measured)
        self.rows, self.kind, remarks = read_results(tables, of_results, self.goals, self.earlier, settings.kind_of)
        return remarks

    @property
    def digest(self) -> str:
        """Return a digest of the input other than results."""
        others = [[other.name, [(row.where, str(row.value)) for row in other.rows]] for other in self.others]
        content = [*self.content, self.limits.content(), *others]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    def leave_out(self, bad: Callable[[], Iterable[str]]) -> None:
        """Remove results in bad rows of the pool, if the same table has pool and results.

        Args:
            bad: returns the places of these rows.
        """
        if any(are_one(self.settings.pool, path) for path in self.settings.measured):
            gone = {*bad()}
            self.rows = {name: [row for row in read if row.where not in gone] for name, read in self.rows.items()}

    def refuse_differing(self, differing: Iterable[str]) -> None:
        """Raise an error if replicate rows differ in a column without a declared use.

        Args:
            differing: columns in which replicate rows differ.

        Raises:
            ValueError: if there is such a column.
        """
        settings = self.settings
        known = {*settings.ignore_column, *settings.source.columns, *self.names.columns, settings.noise or ""}
        known |= {name for _, name in map(split_name, settings.related_assay) if name}
        columns, quantities = [*differing], {*map(str.casefold, settings.quantities)}
        goals = [name for name in columns if name.casefold() in quantities]
        if settings.best_of is None:
            refuse_differing(columns, known.union(goals), settings.pool.name, next(iter(goals), ""))

    def values_in_pool(self, columns: Iterable[str], cells: Callable[[str], Iterable[Sequence[str]]]) -> list[str]:
        """Report values of a goal that are only in the pool, and not used as results.

        Args:
            columns: columns of the pool.
            cells: returns the cells of a column, in several lists.

        Raises:
            ValueError: if there are such values, and no results.
        """
        settings, names = self.settings, {name.casefold() for name in self.settings.quantities}
        if any(are_one(settings.pool, path) for path in settings.measured):
            return []
        own = [name for name in columns if name.casefold() in names]
        filled = " and ".join(name for name in own if any(map(str.strip, chain(*cells(name)))))
        if filled and not settings.measured and self.earlier is None:
            raise ValueError(f"There are values of {filled} in {settings.pool}. Give `--measured {settings.pool}`.")
        return [f"values of {filled} not used as results (add `--measured {settings.pool}`)"] * bool(filled)

    def select(self, in_pool: MoleculeSet | SlotSet, cells: Cells, count: int) -> tuple[Selection, BatchConstraints]:
        """Return the candidates that meet the limits and have a price (if needed), and the constraints on the batch.

        Args:
            in_pool: candidates of the pool.
            cells: cells of the required columns.
            count: total number of candidates, those of the pool first.

        Raises:
            ValueError: if a cell cannot be read.
        """
        settings, columns = self.settings, self.names.read(cells, self.settings.skip_bad_rows)
        smiles = in_pool.smiles if isinstance(in_pool, MoleculeSet) else ()
        selection = (
            self.limits.select_rows(smiles, columns, settings.processes)
            if isinstance(in_pool, MoleculeSet)
            else self.limits.select_columns(len(in_pool), columns)
        )
        prices, groups = find_offers(settings.terms, columns, selection)
        if smiles and settings.group_by is not None and settings.group_by not in columns.texts:
            left = np.flatnonzero(selection.mask).tolist()
            scaffold_of = dict(zip(left, murcko_scaffolds([smiles[k] for k in left]), strict=True))
            groups = [scaffold_of.get(k, "") for k in range(len(smiles))]
        known = selection.with_known(settings.price or "", ~np.isnan(prices))
        return known, settings.terms.constraints(prices, groups, count)

    def describe(
        self,
        cells: Callable[[Sequence[str]], Cells],
        columns: Sequence[str],
        forms: Sequence[Sequence[tuple[str, str]]],
    ) -> dict[str, list[str]]:
        """Return the texts of the pool's other columns for some molecules, including replicate rows.

        Args:
            cells: returns the cells of some columns of these molecules.
            columns: columns of the pool.
            forms: names and SMILES of the replicate rows of each molecule.
        """
        settings = self.settings
        asked = other_columns(columns, (*settings.quantities, settings.noise, settings.price, settings.group_by))
        return list_forms(forms) | (join_cells(cells(asked), len(forms)) if asked else {})


def join_outside(in_pool: Molecules, state: CampaignState, most_atoms: int) -> Molecules:
    """Return the molecules or actions of a pool, followed by measured or pending ones outside the pool.

    Args:
        in_pool: the pool, or the part of it that occurs in the campaign.
        state: state of the campaign.
        most_atoms: maximum number of atoms of a molecule, without hydrogens.
    """
    texts = in_pool.texts if isinstance(in_pool, SlotSet) else in_pool.smiles
    ids, structures = {*in_pool.ids, *in_pool.aliases}, {*texts}
    wanted = (*(each.id for each in state.results), *state.pending)
    missing = (key for key in dict.fromkeys(wanted) if key not in ids and key in state.structures)
    outside = {key: state.structures[key] for key in missing if state.structures[key] not in structures}
    if not outside:
        return in_pool
    if isinstance(in_pool, SlotSet):
        return cast(Molecules, in_pool.join(outside))
    others = from_smiles([*outside.values()], ids=[*outside], most_atoms=most_atoms, salts=in_pool.salts)
    return cast(Molecules, in_pool.join(others))
