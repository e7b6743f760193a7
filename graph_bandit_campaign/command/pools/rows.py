"""Choose rounds from the rows of a table: from all, or from known molecules and the most promising others."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from agents.molecule import DESCRIPTORS, MoleculeAgent, Ranks, Scales
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.pools.rounds import Known, Offer, Rounds, join_outside
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.model.goals_choice import SHORT_LIST, GoalsIndex
from graph_bandit_campaign.model.scan import SPARES, Places, Query, scan
from graph_bandit_campaign.pool.block import Block, Cells
from graph_bandit_campaign.pool.described import DescribedMolecules
from graph_bandit_campaign.pool.descriptors import MOST_WHOLE, reads_graphs, reads_stereo, refuse_large
from graph_bandit_campaign.pool.forms import tautomers
from graph_bandit_campaign.pool.own_columns import Features, add_results, rank_own_columns
from graph_bandit_campaign.pool.prepared.making.run import open_table_pool
from graph_bandit_campaign.pool.prepared.pool import Place, PreparedPool
from graph_bandit_campaign.report.predictions import write_predictions
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import unshield
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.pools import check_known, parent_smiles
from graph_bandit_env.tables import Table, is_part


class RowRounds(Rounds):
    """A prepared pool or a table, read as a whole or part by part.

    Raises:
        ValueError, OSError: if the file cannot be read, or was prepared with other settings.
        ImportError: if a package for reading it is not installed.
    """

    def __init__(self, settings: SuggestSettings, earlier: CampaignState | None) -> None:
        super().__init__(settings, earlier)
        directed = ["--directed True"] * bool(settings.directed)
        self.refuse("graphs that are no molecules", "holds molecules, whose bonds have no direction.", directed)
        if settings.pool.is_dir():
            self.pool, self._sheets = PreparedPool.open(settings.pool), list[str]()
            if settings.encoder and settings.encoder not in self.pool.manifest.question.descriptors:
                text = f"Expected {settings.pool} to be prepared with `--encoder {settings.encoder}`, and it is not."
                raise ValueError(f"{text} Prepare the pool again.")
        else:
            stereo = reads_stereo(settings.agent or (earlier.agent if earlier else None))
            self.pool, self._sheets = open_table_pool(settings.source, stereo)
        self.size = len(self.pool)

    def search(self, names: Collection[str], smiles: Collection[str] = ()) -> MoleculeSet:
        """Return the molecules that may have some names or structures, including other forms."""
        places, by_id = self._find(names, smiles)
        block = self._take(places, ())
        return self.pool.molecules(block, (), True, _aliases(block, by_id))

    def read(self, tables: ResultTables) -> None:
        """Read the results, and the user's own columns."""
        settings, pool, manifest = self.settings, self.pool, self.pool.manifest
        made, source = manifest.question, settings.source
        header = Table(settings.pool, (*filter(None, (made.smiles, made.identifier)), *pool.columns), ())
        list(header.rows(source.columns))  # there are no rows, but a missing column is rejected
        self.own = own = source.columns
        self._features = Features(own, source.embeddings, settings.quantities)
        smiles = made.smiles if settings.smiles == "smiles" else settings.smiles
        identifier = settings.id or made.identifier
        of_results = Columns(settings.quantity, identifier, smiles, own, settings.noise)
        of_tables = self.read_tables(tables, pool.columns, of_results)
        self.leave_out(lambda: map(next(pool.blocks(())).cells.table.where, dict(pool.read_bad_rows())))
        if not settings.pool.is_dir():
            self.refuse_differing(manifest.differing)
        self._is_whole = self._fits()
        ranks = Ranks.of_runs([]) if self._is_whole else rank_own_columns(pool, own, settings.skip_bad_rows)
        self._scales = None if self._is_whole else Scales(pool.moments, ranks)
        self._source, self._columns = replace(source, columns=own), tuple(dict.fromkeys((*self.names.columns, *own)))
        read = dict.fromkeys((*self.names.columns, *source.columns))
        self.content = [manifest.entries, pool.digest(tuple(read))]
        embeddings = self._features.embeddings
        self.content += [[*each.names, hashlib.sha256(each.values.tobytes()).hexdigest()] for each in embeddings]
        remarks = [f"{manifest.merged:,} rows of equal molecules merged"] * bool(manifest.merged)
        bad_rows = f", which {pool.bad_rows} lists" * settings.pool.is_dir()
        remarks += [f"{manifest.bad:,} bad rows left out{bad_rows}"] * bool(manifest.bad)
        if by_name := [name for name in manifest.differing if not is_part(name)]:
            remarks += [f"rows of one molecule may differ in {' and '.join(by_name)}, by the name of the column"]
        unread = {
            name: self.size - int(pool.moments[name].count.min())
            for name in {*made.descriptors}.difference(DESCRIPTORS)
        }
        remarks += [f"molecules that {name} cannot read: {count:,}" for name, count in sorted(unread.items()) if count]
        columns = () if settings.pool.is_dir() else pool.columns
        values = self.values_in_pool(columns, lambda name: (b.cells.texts[name] for b in pool.blocks((), [name])))
        self.remarks = [*remarks, *values, *self._sheets, *of_tables]

    def _fits(self) -> bool:
        """Return True if the whole pool is read into memory: if it is small, or cannot be ranked part by part.

        Raises:
            ValueError: if it is too large for memory.
        """
        settings, earlier = self.settings, self.earlier
        agent = settings.agent or (earlier.agent if earlier and not earlier.by_default else None)
        graphs = reads_graphs(agent)
        prices_differ = settings.price is not None and settings.terms.one_price is None and not settings.budget_only
        if graphs or self._features.embeddings or (self.goals and prices_differ):
            refuse_large(settings.pool, self.size, graphs)
            return True
        return self.size <= MOST_WHOLE

    def know(self, state: CampaignState) -> Known:
        """Return the molecules that occur in a campaign or in other assays, or all."""
        if self._is_whole:
            block = Block.join(list(self.pool.blocks(columns=self._columns)))
            aliases = self.pool.aliases(block)
        else:
            rows = [row for other in self.others for row in other.rows]
            names = state.known | {row.identifier for row in rows if not row.smiles}
            places, by_id = self._find(names, {row.smiles for row in rows if row.smiles})
            block = self._take(places, self._columns)
            aliases = _aliases(block, by_id)
        self._hold(block, aliases, state)
        return Known(self._in_pool, self._graphs)

    def _hold(self, block: Block, aliases: Mapping[str, str], state: CampaignState) -> None:
        """Hold molecules of the pool in memory, with those outside, and with values that only results have."""
        settings = self.settings
        plain = self.pool.molecules(block, self.own, settings.skip_bad_rows, aliases)
        self._in_pool = DescribedMolecules.of(plain, block.descriptors, self._scales)
        if self._is_whole:
            check_known(self._in_pool.columns, self._in_pool.column_names, str(settings.pool))
        told = {key: tuple(by.get(name, np.nan) for name in self.own) for key, by in state.features.items()}
        joined = join_outside(self._in_pool, state, settings.most_atoms)
        self._graphs, self._added = add_results(joined, self._features, told)
        self._block = block

    def offer(self, campaign: Campaign) -> Offer:
        """Return the known molecules, and the most promising others of the whole pool.

        Raises:
            ValueError: if a part is damaged, or a cell cannot be read.
        """
        note, predictions = "", None
        if not self._is_whole:
            query, places = self._ask(campaign), {*map(tuple, self._block.places.tolist())}
            found, aliases = scan(self.pool, query), dict(self._in_pool.aliases)
            block = self._take(np.array(sorted(places | found.places), np.int64), self._columns)
            self._hold(block, aliases, campaign.state)
            predictions = partial(write_predictions, self.pool, query, dict(self._added))
            note = "Limits are tested for the most promising molecules alone." * bool(len(self.limits))
        selection, constraints = self.select(self._in_pool, self._block.cells, len(self._graphs))
        return Offer(
            self._in_pool,
            self._graphs,
            selection,
            constraints,
            selection.describe() if self._is_whole else note,
            others=partial(self._others, self._block),
            predictions=predictions,
        )

    def _others(self, block: Block, ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the texts of the pool's other columns for molecules of a block, by id."""
        place_of = dict(zip(block.ids, block.places.tolist(), strict=True))
        places = np.array([place_of[name] for name in ids], np.int64)

        def cells(columns: Sequence[str]) -> Cells:
            return self.pool.take(places, (), columns).cells

        return self.describe(cells, self.pool.columns, self.pool.forms(places))

    def _ask(self, campaign: Campaign) -> Query:
        """Return the query for each molecule, given the results."""
        settings, state = self.settings, campaign.state
        learners = [campaign.model(goal.name) for goal in state.goals] or [campaign.model()]
        agents = [learner for learner in learners if isinstance(learner, MoleculeAgent)]
        failing = campaign.failing()
        places = map(tuple, self._block.places.tolist())
        taken = {*state.settled(), *state.failed, *state.pending, *state.vetoes}
        short_list = SHORT_LIST if state.goals else agents[0].settings.short_list
        needed = settings.n * (1 if settings.max_per_group is None else SPARES)
        return Query(
            raters=tuple(learner.rater() for learner in agents),
            size=max(short_list, needed),
            limits=self.limits,
            terms=settings.terms,
            names=self.names,
            source=self._source,
            index=GoalsIndex.of(state) if state.goals else None,
            taken=frozenset(place for name, place in zip(self._block.ids, places, strict=True) if name in taken),
            fails=failing.rater,
            likely=failing.bound,
            seed=state.seed,
        )

    def _find(self, names: Collection[str], smiles: Collection[str]) -> tuple[Places, dict[str, Place]]:
        """Return part and row of molecules (or other forms of the structures), `(n, 2)`, and places by name."""
        canonical = {canonical_smiles(text, self.settings.most_atoms) for text in smiles} - {""}
        if self.pool.manifest.question.salts == "merge":
            canonical = set(map(parent_smiles, canonical))
        by_id, by_smiles = self.pool.find(sorted({*names, *map(unshield, names)} - {""}), sorted(canonical))
        forms = {form for text in canonical - by_smiles.keys() for form in tautomers(text)}
        found = {*by_id.values(), *by_smiles.values(), *self.pool.find((), sorted(forms))[1].values()}
        return np.array(sorted(found), np.int64).reshape(-1, 2), by_id

    def _take(self, places: Places, columns: Sequence[str]) -> Block:
        """Return the rows at some places, or the first row of the pool if there are none."""
        first = next(iter(self.pool.blocks((), ()))).places[:1]
        return self.pool.take(places if len(places) else first, columns=columns)


def _aliases(block: Block, by_id: Mapping[str, Place]) -> dict[str, str]:
    """Map the names of replicate rows to the ids of their molecules."""
    name_of = dict(zip(map(tuple, block.places.tolist()), block.ids, strict=True))
    return {alias: name_of[at] for alias, at in by_id.items() if name_of.get(at, alias) != alias}
