"""Rounds on the rows of a table: on all of them, or on what is known and the most promising others, list by list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from agents.molecule import MoleculeAgent, Ranks, Scales
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.pools.offer import Known, Offer, describe_others, select, with_outside
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.command.wishes import Wishes
from graph_bandit_campaign.model.goals_choice import SHORT_LIST, GoalsIndex
from graph_bandit_campaign.model.scan import SPARES, Places, Query, scan
from graph_bandit_campaign.pool.block import Block, Cells
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.pool.forms import find_forms
from graph_bandit_campaign.pool.own_columns import Features, add_results
from graph_bandit_campaign.pool.prepared.pool import Place, PreparedPool
from graph_bandit_campaign.pool.source import Source
from graph_bandit_campaign.report.predictions import write_predictions
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import unshield
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.pools import check_known, parent_smiles

Added = list[tuple[str, tuple[float, ...]]]
"""Ids and values of the user's own columns that results have added to molecules."""


@dataclass(frozen=True, eq=False)
class KnownRows(Known[DescribedMolecules]):
    """Some molecules of a table."""

    block: Block
    """Their rows in the pool: names, traits and cells."""
    added: Added
    """Values of the user's own columns that only results have, by id."""


@dataclass(frozen=True)
class RowRounds:
    """A prepared pool, which is read as a whole, or part by part."""

    pool: PreparedPool
    """The pool."""
    settings: SuggestSettings
    """Settings of the command."""
    wishes: Wishes
    """Limits and goals, with the columns that they name."""
    features: Features
    """The user's own columns."""
    ranks: Ranks
    """Ranks of those that are columns of tables, over the pool."""
    source: Source
    """The pool, with all of these columns."""
    is_whole: bool
    """Whether all molecules are on offer, in memory; else the agent finds the most promising ones."""

    def search(self, names: Collection[str], smiles: Collection[str]) -> MoleculeSet:
        """Return the molecules that may have some names or structures, as themselves or in another form."""
        return search(self.pool, self.settings.most_atoms, names, smiles)

    def ids(self) -> Iterator[str]:
        """Yield the ids of all molecules."""
        for _, _, names, _ in self.pool.names():
            yield from names

    def know(self, state: CampaignState) -> KnownRows:
        """Return the molecules that a campaign and other assays speak of, or all."""
        if self.is_whole:
            block = Block.join(list(self.pool.blocks(columns=self._columns)))
            return self._with_results(state, block, self.pool.aliases(block), None)
        rows = [row for other in self.wishes.others for row in other.rows]
        names = state.known | {row.identifier for row in rows if not row.smiles}
        return self._take_known(
            state, *find(self.pool, self.settings.most_atoms, names, {row.smiles for row in rows if row.smiles})
        )

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.wishes.names.columns, *self.features.columns)))

    def _take_known(self, state: CampaignState, places: Places, by_id: Mapping[str, Place]) -> KnownRows:
        block = take(self.pool, places, self._columns)
        return self._with_results(state, block, _aliases(block, by_id), Scales(self.pool.moments, self.ranks))

    def _with_results(
        self, state: CampaignState, block: Block, aliases: Mapping[str, str], scales: Scales | None
    ) -> KnownRows:
        settings, columns = self.settings, self.features.columns
        plain = self.pool.molecules(block, columns, settings.skip_bad_rows, aliases)
        in_pool = DescribedMolecules.of(plain, block.traits, scales)
        if self.is_whole:
            check_known(in_pool.columns, in_pool.column_names, str(settings.pool))
        known = with_outside(in_pool, state, settings.most_atoms)
        told = {key: tuple(by.get(name, np.nan) for name in columns) for key, by in state.features.items()}
        molecules, added = add_results(known.graphs, self.features, told)
        return KnownRows(in_pool, molecules, block, added)

    def offer(self, campaign: Campaign, known: Any) -> Offer:  # Any: `KnownRows`, as `know` returns them
        """Return the molecules that are known, and the most promising others, which the agent finds in the whole pool.

        Args:
            campaign: the campaign.
            known: the molecules that it knows.

        Raises:
            ValueError: if a part is damaged, or a cell cannot be read.
        """
        if self.is_whole:
            count = len(known.graphs)
            selection, constraints = select(known.in_pool, known.block.cells, self.wishes, self.settings, count)
            note, others = selection.describe(), partial(self._others, known.block)
            return Offer(known.in_pool, known.graphs, selection, constraints, note, others=others)
        query = self._ask(campaign, known)
        found, places = scan(self.pool, query), {*map(tuple, known.block.places.tolist())}
        aliases = dict(known.in_pool.aliases)
        block = take(self.pool, np.array(sorted(places | found.places), np.int64), self._columns)
        known = self._with_results(campaign.state, block, aliases, Scales(self.pool.moments, self.ranks))
        in_pool, molecules, block = known.in_pool, known.graphs, known.block
        selection, constraints = select(in_pool, block.cells, self.wishes, self.settings, len(molecules))
        predictions = partial(write_predictions, self.pool, query, dict(known.added))
        others = partial(self._others, block)
        note = "How many molecules meet the limits is not counted: the most promising ones alone are tested."
        note *= len(self.wishes.limits) > 0
        return Offer(in_pool, molecules, selection, constraints, note, others=others, predictions=predictions)

    def _others(self, block: Block, ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the texts of the pool's other columns for molecules of a block, by name."""
        place_of = dict(zip(block.ids, block.places.tolist(), strict=True))
        places = np.array([place_of[name] for name in ids], np.int64)

        def cells(columns: Sequence[str]) -> Cells:
            return self.pool.take(places, (), columns).cells

        return describe_others(cells, self.pool.columns, self.pool.forms(places), self.settings)

    def _ask(self, campaign: Campaign, known: KnownRows) -> Query:
        """Return what is asked of each molecule, given the results."""
        settings, state = self.settings, campaign.state
        learners = [campaign.model(goal.name) for goal in state.goals] or [campaign.model()]
        agents = [learner for learner in learners if isinstance(learner, MoleculeAgent)]
        failing = campaign.failing()
        in_pool, places = known.in_pool, map(tuple, known.block.places.tolist())
        taken = {*state.settled(), *state.failed, *state.pending, *state.vetoes}
        short_list = SHORT_LIST if state.goals else agents[0].settings.short_list
        needed = settings.n * (1 if settings.at_most is None else SPARES)
        return Query(
            raters=tuple(learner.rater() for learner in agents),
            size=max(short_list, needed),
            limits=self.wishes.limits,
            terms=settings.terms,
            names=self.wishes.names,
            source=self.source,
            index=GoalsIndex.of(state) if state.goals else None,
            taken=frozenset(place for name, place in zip(in_pool.ids, places, strict=True) if name in taken),
            fails=failing.rater,
            likely=failing.bound,
            seed=state.seed,
        )


def search(pool: PreparedPool, most_atoms: int, names: Collection[str], smiles: Collection[str]) -> MoleculeSet:
    """Return the molecules of a pool that may have some names or structures; of none, the first of the pool."""
    places, by_id = find(pool, most_atoms, names, smiles)
    block = take(pool, places, ())
    return pool.molecules(block, (), True, _aliases(block, by_id))


def find(
    pool: PreparedPool, most_atoms: int, names: Collection[str], smiles: Collection[str]
) -> tuple[Places, dict[str, Place]]:
    """Return part and row of molecules, `(n, 2)`, and those of names; also of other forms of the structures."""
    canonical = {canonical_smiles(text, most_atoms) for text in smiles} - {""}
    if pool.manifest.question.salts == "merge":
        canonical = set(map(parent_smiles, canonical))
    by_id, by_smiles = pool.find(sorted({*names, *map(unshield, names)} - {""}), sorted(canonical))
    found = {*by_id.values(), *by_smiles.values(), *find_forms(pool, canonical - by_smiles.keys())}
    return np.array(sorted(found), np.int64).reshape(-1, 2), by_id


def take(pool: PreparedPool, places: Places, columns: Sequence[str]) -> Block:
    """Return the rows at some places; of none, the first of the pool."""
    first = next(iter(pool.blocks((), ()))).places[:1]
    return pool.take(places if len(places) else first, columns=columns)


def _aliases(block: Block, by_id: Mapping[str, Place]) -> dict[str, str]:
    """Return the names of other rows of molecules, and those that these stand for."""
    name_of = dict(zip(map(tuple, block.places.tolist()), block.ids, strict=True))
    return {alias: name_of[at] for alias, at in by_id.items() if name_of.get(at, alias) != alias}
