"""Rounds on the rows of a table: on all of them, or on what is known and the most promising others, list by list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import cast

import numpy as np

from agents.molecule import MoleculeAgent, Ranks, Scales
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.asked import Asked
from graph_bandit_campaign.command.pools.offer import Known, Offer, describe_others, know, select
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.model.goals_choice import SHORT_LIST, GoalsIndex
from graph_bandit_campaign.model.scan import SPARES, Found, Places, Query, scan
from graph_bandit_campaign.names import are_one
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.pool.forms import find_forms
from graph_bandit_campaign.pool.own_columns import Features, add_results
from graph_bandit_campaign.pool.prepared import Block, Cells, Place, PreparedPool
from graph_bandit_campaign.pool.source import Source
from graph_bandit_campaign.report.streamed import write_predictions
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import unshield
from graph_bandit_env import canonical_smiles
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
    earlier: CampaignState | None
    """State of the campaign; None: there is none yet."""
    asked: Asked
    """Results, limits and goals, with the columns that they name."""
    features: Features
    """The user's own columns."""
    ranks: Ranks
    """Ranks of those that are columns of tables, over the pool."""
    source: Source
    """The pool, with all of these columns."""
    is_whole: bool
    """Whether all molecules are on offer, in memory; else the agent finds the most promising ones."""

    @cached_property
    def _found(self) -> tuple[Places, dict[str, Place]]:
        """Part and row of the molecules that results and earlier rounds speak of, `(n, 2)`, and those of names.

        Of a result whose SMILES the pool does not have, other forms are looked for.
        """
        rows = [row for rows in self.asked.rows.values() for row in rows]
        rows += [
            replace(row, identifier="") if row.smiles else row for other in self.asked.others for row in other.rows
        ]
        structures = dict(self.earlier.structures) if self.earlier else {}
        names = {row.identifier for row in rows} | structures.keys()
        names |= set(map(unshield, names)) | set(self.earlier.pending if self.earlier else ()) | self.settings.marked
        written = {row.smiles for row in rows} | set(structures.values())
        canonical = {canonical_smiles(text, self.settings.most_atoms) for text in written} - {""}
        if self.pool.manifest.question.salts == "merge":
            canonical = set(map(parent_smiles, canonical))
        by_id, by_smiles = self.pool.find(sorted(names - {""}), sorted(canonical))
        forms = find_forms(self.pool, canonical - by_smiles.keys())
        every = {*by_id.values(), *by_smiles.values(), *forms}
        return np.array(sorted(every), np.int64).reshape(-1, 2), by_id

    @cached_property
    def known(self) -> KnownRows:
        """Return the molecules that results and earlier rounds speak of, or all."""
        if self.is_whole:
            block = Block.join(list(self.pool.blocks(columns=self._columns)))
            return self._match(block, self.pool.aliases(block), None)
        return self.match(self._found[0])

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.asked.names.columns, *self.features.columns)))

    def match(self, places: Places) -> KnownRows:
        """Return some molecules of the pool, matched with the results.

        Args:
            places: `(n, 2)`. Part and row of the molecules. If there are none, the first of the pool is taken.
        """
        first = next(iter(self.pool.blocks((), ()))).places[:1]
        block = self.pool.take(places if len(places) else first, columns=self._columns)
        name_of = dict(zip(map(tuple, block.places.tolist()), block.ids, strict=True))
        aliases = {alias: name_of[at] for alias, at in self._found[1].items() if name_of.get(at, alias) != alias}
        return self._match(block, aliases, Scales(self.pool.moments, self.ranks))

    def _match(self, block: Block, aliases: Mapping[str, str], scales: Scales | None) -> KnownRows:
        settings, rows = self.settings, self.asked.rows
        plain = self.pool.molecules(block, self.features.columns, settings.skip_bad_rows, aliases)
        in_pool = DescribedMolecules.of(plain, block.traits, scales)
        if self.is_whole:
            check_known(in_pool.columns, in_pool.column_names, str(settings.pool))
        if any(are_one(settings.pool, path) for path in settings.measured):  # left out once is left out
            bad = {block.cells.table.where(row) for row, _ in in_pool.skipped}
            rows = {name: [row for row in read if row.where not in bad] for name, read in rows.items()}
        known = know(in_pool, rows, self.asked, settings, self.earlier)
        molecules, added = add_results(cast(DescribedMolecules, known.graphs), self.features, known.books.features)
        return KnownRows(in_pool, known.books, molecules, block, added)

    def offer(self, campaign: Campaign) -> Offer:
        """Return the molecules that are known, and the most promising others, which the agent finds in the whole pool.

        Raises:
            ValueError: if a part is damaged, or a cell cannot be read.
        """
        if self.is_whole:
            known, settings = self.known, self.settings
            count = len(known.graphs)
            selection, constraints = select(known.in_pool, known.block.cells, self.asked, settings, count)
            note, others = selection.describe(), partial(self._others, known.block)
            return Offer(known.in_pool, known.graphs, selection, constraints, note, others=others)
        query = self._ask(campaign)
        found = scan(self.pool, query)
        known = self.match(np.array(sorted({*map(tuple, self._found[0].tolist())} | found.places), np.int64))
        in_pool, molecules, block = known.in_pool, known.graphs, known.block
        selection, constraints = select(in_pool, block.cells, self.asked, self.settings, len(molecules))
        predictions = partial(write_predictions, self.pool, query, dict(known.added))
        others = partial(self._others, block)
        note = self._tell(found)
        return Offer(
            in_pool, molecules, selection, constraints, note, is_part=True, others=others, predictions=predictions
        )

    def _others(self, block: Block, ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the texts of the pool's other columns for molecules of a block, by name."""
        place_of = dict(zip(block.ids, block.places.tolist(), strict=True))
        places = np.array([place_of[name] for name in ids], np.int64)

        def cells(columns: Sequence[str]) -> Cells:
            return self.pool.take(places, (), columns).cells

        return describe_others(cells, self.pool.columns, self.pool.forms(places), self.settings)

    def _ask(self, campaign: Campaign) -> Query:
        """Return what is asked of each molecule, given the results."""
        settings, state = self.settings, campaign.state
        learners = [campaign.model(goal.name) for goal in state.goals] or [campaign.model()]
        agents = [learner for learner in learners if isinstance(learner, MoleculeAgent)]
        failing = campaign.failing()
        in_pool, places = self.known.in_pool, map(tuple, self.known.block.places.tolist())
        taken = {*state.settled(), *state.failed, *state.pending, *state.vetoes}
        short_list = SHORT_LIST if state.goals else agents[0].settings.short_list
        needed = settings.n * (1 if settings.at_most is None else SPARES)
        return Query(
            raters=tuple(learner.rater() for learner in agents),
            size=max(short_list, needed),
            limits=self.asked.limits,
            terms=settings.terms,
            names=self.asked.names,
            source=self.source,
            index=GoalsIndex.of(state) if state.goals else None,
            taken=frozenset(place for name, place in zip(in_pool.ids, places, strict=True) if name in taken),
            fails=failing.rater,
            likely=failing.bound,
            seed=state.seed,
            signs=tuple(goal.sign for goal in state.goals) or (1.0,),
        )

    def _tell(self, result: Found) -> str:
        """Say how many molecules the limits leave, as far as it is known; an empty text without limits."""
        limits, numbers = self.asked.limits, self.asked.names.numbers
        computed = [limit.text for limit in limits.requirements if limit.name not in numbers]
        computed += [f"forbid {pattern.text}" for pattern in limits.patterns]
        texts = [f"those on columns leave {result.meeting:,}"] if len(limits) > len(computed) else []
        texts += [f"{result.unpriced:,} have no known price"] * bool(result.unpriced)
        if computed:
            texts.append(f"{', '.join(computed)} tested for the most promising molecules alone")
        return f"Limits on {result.rated:,} molecules: {'; '.join(texts)}." if texts else ""
