"""Rounds on the rows of a table: on all of them, or on what is known and the most promising others, list by list."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from agents.molecule import MoleculeAgent, Ranks, Scales
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.asked import Asked
from graph_bandit_campaign.command.pools.offer import Offer, describe_others, select
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.model.choice import ROUNDING, ShortListEndedError
from graph_bandit_campaign.model.goals_index import SHORT_LIST, GoalsIndex
from graph_bandit_campaign.model.scan.best import Places
from graph_bandit_campaign.model.scan.scan import Found, Query, scan
from graph_bandit_campaign.model.scan.spares import come_back
from graph_bandit_campaign.model.stopping import MOST
from graph_bandit_campaign.names import are_one
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.pool.forms import find_forms
from graph_bandit_campaign.pool.own_columns import Features, add_results
from graph_bandit_campaign.pool.prepared import Block, Cells, Place, PreparedPool
from graph_bandit_campaign.pool.source import Source
from graph_bandit_campaign.report.streamed import write_predictions
from graph_bandit_campaign.results.books import Books, match_molecules
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import unshield
from graph_bandit_env import canonical_smiles
from graph_bandit_env.pools import check_known, parent_smiles

Added = list[tuple[str, tuple[float, ...]]]
"""Ids and values of the user's own columns that results have added to molecules."""


@dataclass(frozen=True, eq=False)
class Known:
    """Some molecules of a pool in memory, matched with the results."""

    in_pool: DescribedMolecules
    """The molecules of the pool."""
    books: Books
    """The results."""
    molecules: DescribedMolecules
    """These molecules, then those that are measured or pending and not in the pool."""
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
    def known(self) -> Known:
        """Return the molecules that results and earlier rounds speak of, or all."""
        if self.is_whole:
            block = Block.join(list(self.pool.blocks(columns=self._columns)))
            return self._match(block, self.pool.aliases(block), None)
        return self.match(self._found[0])

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.asked.names.columns, *self.features.columns)))

    def match(self, places: Places) -> Known:
        """Return some molecules of the pool, matched with the results.

        Args:
            places: `(n, 2)`. Part and row of the molecules. If there are none, the first of the pool is taken.
        """
        first = next(iter(self.pool.blocks((), ()))).places[:1]
        block = self.pool.take(places if len(places) else first, columns=self._columns)
        name_of = dict(zip(map(tuple, block.places.tolist()), block.ids, strict=True))
        aliases = {alias: name_of[at] for alias, at in self._found[1].items() if name_of.get(at, alias) != alias}
        return self._match(block, aliases, Scales(self.pool.moments, self.ranks))

    def _match(self, block: Block, aliases: Mapping[str, str], scales: Scales | None) -> Known:
        settings, rows = self.settings, self.asked.rows
        plain = self.pool.molecules(block, self.features.columns, settings.skip_bad_rows, aliases)
        in_pool = DescribedMolecules.of(plain, block.traits, scales)
        if self.is_whole:
            check_known(in_pool.columns, in_pool.column_names, str(settings.pool))
        if any(are_one(settings.pool, path) for path in settings.measured):  # left out once is left out
            bad = {block.cells.table.where(row) for row, _ in in_pool.skipped}
            rows = {name: [row for row in read if row.where not in bad] for name, read in rows.items()}
        structures, pending = (self.earlier.structures, self.earlier.pending) if self.earlier else ({}, ())
        options = settings.trust_ids, settings.most_atoms, bool(self.asked.goals)
        books, molecules = match_molecules(rows, in_pool, structures, pending, *options)
        if settings.best_of is not None:
            books = books.best(settings.goals[0].sign > 0)
        molecules, added = add_results(molecules, self.features, books.features)
        return Known(in_pool, books, molecules, block, added)

    def offer(self, campaign: Campaign) -> Offer:
        """Return the molecules that are known, and the most promising others, which the agent finds in the whole pool.

        In memory they would be its short list: so the suggestions are the same.

        Raises:
            ValueError: if a part is damaged, or a cell cannot be read.
        """
        if self.is_whole:
            known, settings = self.known, self.settings
            smiles, count = known.in_pool.smiles, len(known.molecules)
            selection, constraints = select(smiles, known.block.cells, self.asked, settings, count)
            note, others = selection.describe(), partial(self._others, known.block)
            return Offer(known.in_pool, known.molecules, selection, constraints, note, others=others)
        query = self._ask(campaign)
        return self._make(query, [scan(self.pool, query)])

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
        best, failing = None if state.goals else state.yardstick(), campaign.failing()
        reward = None if best is None else best if state.maximize else -best
        in_pool, places = self.known.in_pool, map(tuple, self.known.block.places.tolist())
        taken = {*state.settled(), *state.failed, *state.pending, *state.vetoes}
        short_list = SHORT_LIST if state.goals else agents[0].settings.short_list
        return Query(
            raters=tuple(learner.rater() for learner in agents),
            size=max(short_list, settings.n),
            limits=self.asked.limits,
            terms=settings.terms,
            names=self.asked.names,
            source=self.source,
            index=GoalsIndex.of(state) if state.goals else None,
            taken=frozenset(place for name, place in zip(in_pool.ids, places, strict=True) if name in taken),
            fails=failing.rater,
            likely=failing.bound,
            best=reward,
            hopeful=MOST + settings.n,
            seed=state.seed,
            signs=tuple(goal.sign for goal in state.goals) or (1.0,),
            money=math.inf if settings.budget is None else settings.budget * (1 + ROUNDING),
        )

    def _make(self, query: Query, scans: Sequence[Found], is_final: bool = False) -> Offer:
        """Return what is known, and what was found by some scans.

        Args:
            query: what the scans asked, but for groups and money.
            scans: what they found.
            is_final: whether it is known which likely failures come back.
        """
        before = {*map(tuple, self._found[0].tolist())}.union(*(past.places for past in scans[:-1]))
        matched = self.match(np.array(sorted(before | scans[-1].places), np.int64))
        in_pool, block, settings = matched.in_pool, matched.block, self.settings
        selection, constraints = select(in_pool.smiles, block.cells, self.asked, settings, len(matched.molecules))
        best = scans[-1].offered if query.fails is None else scans[-1].sound
        is_all = not best.is_full or not scans[-1].places - before
        spared = np.zeros(len(matched.molecules), np.bool_)
        if query.fails is not None and query.last is not None:
            probability = query.fails(block.traits, query.numbers(block), block.smiles)
            spared[: len(in_pool)] = come_back(probability, block.places, query.last)

        def more(ended: ShortListEndedError) -> Offer:
            if not ended.are_likely:
                following = replace(query, groups=ended.groups, money=ended.money, best=None)
                return self._make(query, [*scans, scan(self.pool, following)], is_final)
            last = scan(self.pool, replace(query, lists_spares=True)).spares.last
            if last is None:
                return self._make(query, scans, is_final=True)
            again = replace(query, last=last)
            return self._make(again, [scan(self.pool, again)], is_final=True)

        return Offer(
            in_pool,
            matched.molecules,
            selection,
            replace(
                constraints,
                lists=math.inf if is_all else len(scans),
                dear=frozenset(scans[-1].dear),
                spared=spared if is_final else None,
            ),
            self._tell(scans[0]),
            is_part=True,
            more=more,
            others=partial(self._others, block),
            predictions=partial(write_predictions, self.pool, query, dict(matched.added)),
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
