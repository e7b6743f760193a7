"""Reduce a prepared pool to what a round needs: molecules that are known, and the most promising of the others."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from agents.molecule import MoleculeAgent, Ranks, Scales
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.question import measurements_of
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.learner import DEFAULT
from graph_bandit_campaign.limits.limits import Limits
from graph_bandit_campaign.outlook.outlook import MOST
from graph_bandit_campaign.pages.answer import Answer
from graph_bandit_campaign.plates.choice import ROUNDING, ShortListEndedError
from graph_bandit_campaign.plates.offers import find_offer_columns, find_offers
from graph_bandit_campaign.prepared import Block, Place, PreparedPool
from graph_bandit_campaign.prepared.manifest import Question
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.streaming.best import Places
from graph_bandit_campaign.streaming.cells import ColumnNames, read_cells
from graph_bandit_campaign.streaming.forms import find_forms
from graph_bandit_campaign.streaming.own_columns import (
    add_results,
    describe_own_columns,
    find_own_columns,
    rank_own_columns,
    read_own_columns,
)
from graph_bandit_campaign.streaming.predictions import make_forecaster, write_predictions
from graph_bandit_campaign.streaming.scan import Found, Query, scan
from graph_bandit_campaign.streaming.spares import come_back
from graph_bandit_campaign.tables.books import Books, match_rows
from graph_bandit_campaign.tables.features import Features
from graph_bandit_campaign.tables.inputs import (
    Inputs,
    outsiders,
    read_outside,
    read_results,
    split_limits,
    structures_of,
)
from graph_bandit_campaign.tables.limit_columns import join_rows, list_forms, other_columns
from graph_bandit_campaign.tables.measured_rows import Columns, MeasuredRow, read_headers
from graph_bandit_campaign.tables.spreadsheets import unshield
from graph_bandit_campaign.traits.described import DescribedMolecules
from graph_bandit_env import MoleculeSet, canonical_smiles, from_smiles
from graph_bandit_env.pools import parent_smiles
from graph_bandit_env.tables import Table

TERMS = ("price", "budget", "budget_only", "per", "at_most")  # settings of prices and caps
NOT_STREAMED = {
    "sheet": "a sheet, which was chosen when the pool was prepared",
}


def read_prepared_inputs(settings: SuggestSettings, earlier: CampaignState | None = None) -> Inputs[MoleculeSet]:
    """Read results, and the molecules of a prepared pool that a round needs.

    The agent is trained on the results, and rates every molecule of the pool, part by part. What is returned are the
    molecules that are known (measured, failed or pending) and those of the largest index, which in memory would be the
    short list of the agent: so the suggestions are the same.

    Args:
        settings: settings of the command.
        earlier: state of the campaign.

    Raises:
        ValueError, OSError: as `read_inputs`, or if an option needs the whole pool in memory, or a part is damaged.
        ImportError: if pyarrow is not installed.
    """
    pool = PreparedPool.open(settings.pool)
    made = pool.manifest.question
    header = Table(settings.pool, (*filter(None, (made.smiles, made.identifier)), *pool.columns), ())
    features = find_own_columns(header, settings)
    of_results = read_headers(settings.measured, settings.measured_sheet)
    columns = _columns_of_results(settings, made, set(chain(*of_results.values())))
    limits, goals = split_limits(settings, header, earlier)
    _refuse(settings, bool(goals))
    numbers, texts = limits.find_columns(pool.columns, str(settings.pool), chain(*of_results.values()))
    prices, groups = find_offer_columns(settings, pool.columns, str(settings.pool))
    results = read_results(settings, columns, ())[settings.target]
    names = ColumnNames(numbers | prices, texts | groups)
    ranks = rank_own_columns(pool, features.columns, settings)
    reduction = Reduction(pool, settings, earlier, results.rows, features, ranks)
    known, aliases = reduction.find_known()
    query = reduction.ask(known, aliases, names)

    def read(query: Query, found: Sequence[Found], is_final: bool = False) -> Inputs[MoleculeSet]:
        """Return what is known, and what was found by some scans.

        Args:
            query: what the scans asked, but for groups and money.
            found: what they found.
            is_final: whether it is known which likely failures come back.
        """
        before = {*map(tuple, known.tolist())}.union(*(each.places for each in found[:-1]))
        places = np.array(sorted(before | found[-1].places), np.int64)
        here, books, molecules, block = reduction.match(places, aliases, names.columns)
        molecules, added = add_results(molecules, features, books.features)
        cells = read_cells(block.cells, names, settings)
        selection = limits.select_rows(here.smiles, cells, settings.processes).organic(here.smiles)
        offers = find_offers(settings, cells, selection, here.smiles)
        terms = [getattr(settings, name) for name in TERMS]
        best = found[-1].offered if query.judge is None else found[-1].sound
        is_all = len(best.keys) < query.size or not found[-1].places - before
        spared = np.zeros(len(molecules), np.bool_)
        if query.judge is not None and query.last is not None:
            spared[: len(here)] = come_back(query.judge.probability(block.smiles), block.places, query.last)

        def more(ended: ShortListEndedError, taken: Sequence[int]) -> Inputs[MoleculeSet]:
            following = replace(query, groups=ended.groups, money=ended.money, best=None)
            if not ended.are_likely:
                return read(query, [*found, reduction.scan(following)], is_final)
            pending = frozenset(map(tuple, block.places[list(taken)].tolist()))
            last = reduction.scan(replace(query, pending=pending)).spares.last
            if last is None:
                return read(query, found, is_final=True)
            again = replace(query, last=last)
            return read(again, [reduction.scan(again)], is_final=True)

        def predictions(campaign: Campaign, answer: Answer) -> Iterator[bytes]:
            forecaster = make_forecaster(campaign, answer, settings, names, dict(added))
            return write_predictions(pool, forecaster, answer)

        def others(ids: Sequence[str]) -> dict[str, list[str]]:
            asked, place_of = other_columns(pool.columns, settings), {name: k for k, name in enumerate(here.ids)}
            places = block.places[[place_of[name] for name in ids]]
            forms = list_forms(pool.forms(places))
            if not asked:
                return forms
            cells = pool.take(places, (), asked).cells
            rows = zip(cells.owners.tolist(), zip(*(cells.texts[name] for name in asked), strict=True), strict=True)
            return forms | join_rows(asked, rows, len(ids), cells.table)

        plate = offers.plate(settings, len(molecules))
        return Inputs(
            here,
            books,
            molecules,
            [*_remarks(pool), *dict.fromkeys(results.remarks)],
            describe_own_columns(features, molecules, len(pool) + len(molecules) - len(here)),
            limits,
            selection.with_known(settings.price or "", offers.priced),
            replace(plate, lists=math.inf if is_all else len(found), spared=spared if is_final else None),
            size=len(pool),
            told=_tell(limits, numbers, found[0]),
            content=(made.content, *terms, *([features.columns, added] if features.columns else ())),
            more=more,
            predictions=predictions,
            others=others,
        )

    return read(query, [reduction.scan(query)])


def _columns_of_results(settings: SuggestSettings, made: Question, headers: Collection[str]) -> Columns:
    """Return the columns of the tables of results, whose names and SMILES may be in other ones than in the pool."""
    for name, given, known in (("id", settings.id, made.identifier), ("smiles", settings.smiles, made.smiles)):
        if given not in (None, "smiles", known) and given.casefold() not in map(str.casefold, headers):
            raise ValueError(
                f"Expected `--{name}` to name a column of the results; those of the pool were chosen when it was "
                f"prepared. Got `{given}`. The results have {', '.join(sorted(headers)) or 'no columns'}."
            )
    smiles = made.smiles if settings.smiles == "smiles" else settings.smiles
    return Columns(settings.target, settings.id or made.identifier, smiles, settings.feature_columns, settings.noise)


def _remarks(pool: PreparedPool) -> list[str]:
    """Return remarks about the table that the pool was made of, for people."""
    made = pool.manifest
    remarks = [f"{made.merged:,} rows of equal molecules merged"] * bool(made.merged)
    return remarks + [f"{made.bad:,} bad rows left out, which {pool.bad_rows} lists"] * bool(made.bad)


def _tell(limits: Limits, numbers: Collection[str], found: Found) -> str:
    """Say how many molecules the limits leave, as far as it is known; an empty text without limits."""
    computed = [limit.text for limit in limits.requirements if limit.name not in numbers]
    computed += [f"forbid {pattern.text}" for pattern in limits.patterns]
    texts = [f"those on columns leave {found.meeting:,}"] if len(limits) > len(computed) else []
    texts += [f"{found.unpriced:,} have no known price"] * bool(found.unpriced)
    if computed:
        texts.append(f"{', '.join(computed)} tested for the most promising molecules alone")
    return f"Limits on {found.rated:,} molecules: {'; '.join(texts)}." if texts else ""


def _refuse(settings: SuggestSettings, several: bool) -> None:
    """Refuse what needs the whole pool in memory."""
    plain = SuggestSettings(settings.pool, settings.out, maximize=("y",))
    if settings.predictions is not None and settings.predictions.suffix.lower() != ".csv":
        raise ValueError(
            f"Expected `--predictions` of a prepared pool to end in .csv, which is written part by part. Got "
            f"{settings.predictions}."
        )
    for name, what in NOT_STREAMED.items():
        if getattr(settings, name) != getattr(plain, name):
            raise ValueError(
                f"Expected the table of a pool for `--{name}`: {what}. Got {settings.pool}, a prepared pool, which is "
                f"never in memory as a whole. Leave out --{name}, or give the table."
            )
    if several:
        raise ValueError(
            "Expected the table of a pool for several goals, of which limits on results are some. Got "
            f"{settings.pool}, a prepared pool, which is never in memory as a whole. Give one goal, or the table."
        )


@dataclass(frozen=True)
class Reduction:
    """A prepared pool, and what is known of its molecules."""

    pool: PreparedPool
    """The pool."""
    settings: SuggestSettings
    """Settings of the command."""
    earlier: CampaignState | None
    """State of the campaign; None: there is none yet."""
    rows: Sequence[MeasuredRow]
    """Rows of results."""
    features: Features
    """The user's own columns."""
    ranks: Ranks
    """Their ranks over the pool."""

    def find_known(self) -> tuple[Places, dict[str, Place]]:
        """Return part and row of the molecules that results and earlier rounds speak of, `(n, 2)`, and those of names.

        Of a result whose SMILES the pool does not have, other forms are looked for.
        """
        structures = dict(self.earlier.structures) if self.earlier else {}
        names = {row.identifier for row in self.rows} | structures.keys()
        names |= set(map(unshield, names)) | set(self.earlier.pending if self.earlier else ())
        written = {row.smiles for row in self.rows} | set(structures.values())
        canonical = {canonical_smiles(text, self.settings.most_atoms) for text in written} - {""}
        if self.pool.manifest.question.forms == "joined":
            canonical = set(map(parent_smiles, canonical))
        by_id, by_smiles = self.pool.find(sorted(names - {""}), sorted(canonical))
        forms = find_forms(self.pool, canonical - by_smiles.keys())
        every = {*by_id.values(), *by_smiles.values(), *forms}
        return np.array(sorted(every), np.int64).reshape(-1, 2), by_id

    def ask(self, known: Places, aliases: Mapping[str, Place], names: ColumnNames) -> Query:
        """Return what is asked of each molecule, given the results.

        Args:
            known: part and row of the molecules that are known.
            aliases: part and row of names, those of rows that were merged included.
            names: columns that limits and prices are in.
        """
        here, books, molecules, _ = self.match(known, aliases)
        molecules, _ = add_results(molecules, self.features, books.features)
        settings = self.settings
        maximize = settings.goals[0].sign > 0
        campaign = Campaign(
            molecules,
            settings.agent or DEFAULT,
            maximize=maximize,
            seed=settings.seed,
            ignore_failures=settings.ignore_failures,
        )
        campaign.choose_agent(settings.n)
        campaign.replace_results(measurements_of(books, {}), books.failed, ())
        agent, state = campaign.model(), campaign.state
        if not isinstance(agent, MoleculeAgent):
            raise ValueError(
                f"Agent `{state.agent}` needs the whole pool in memory. Choose one of the `molecule-` agents, or give "
                "the table in place of the prepared pool."
            )
        best, failing = state.yardstick(), campaign.failing()
        taken = {*state.settled(), *state.failed}
        waiting = len({*books.pending, *(self.earlier.pending if self.earlier else ())})
        return Query(
            agent.rater(),
            max(agent.settings.short_list, settings.n) + settings.n + waiting,
            settings,
            names,
            self.features.columns,
            frozenset(
                place for name, place in zip(here.ids, map(tuple, known.tolist()), strict=False) if name in taken
            ),
            failing.judge,
            failing.bound,
            None if best is None else best if maximize else -best,
            MOST + settings.n + waiting,
            state.seed,
            money=math.inf if settings.budget is None else settings.budget * (1 + ROUNDING),
        )

    def scan(self, query: Query) -> Found:
        """Ask it of every molecule of the pool."""
        return scan(self.pool, query, self.settings.workers, self.settings.scheduler)

    def match(
        self, places: Places, aliases: Mapping[str, Place], columns: Sequence[str] = ()
    ) -> tuple[DescribedMolecules, Books, DescribedMolecules, Block]:
        """Return some molecules of the pool, the results, these molecules with those outside the pool, and their cells.

        Args:
            places: `(n, 2)`. Part and row of the molecules. If there are none, the first of the pool is taken.
            aliases: as in `ask`.
            columns: columns of the table to read, in addition to the user's own.
        """
        settings, own = self.settings, self.features.columns
        first = next(iter(self.pool.blocks((), ()))).places[:1]
        block = self.pool.take(places if len(places) else first, columns=tuple(dict.fromkeys((*columns, *own))))
        made = self.pool.manifest.question
        parsed = from_smiles(block.written, ids=block.ids, most_atoms=made.most_atoms, forms=made.forms)
        name_of = dict(zip(map(tuple, block.places.tolist()), block.ids, strict=True))
        others = {alias: name_of[at] for alias, at in aliases.items() if name_of.get(at, alias) != alias}
        values = read_own_columns(block, own, settings)
        plain = MoleculeSet(
            parsed,
            block.smiles,
            block.ids,
            aliases=others,
            columns=values,
            column_names=own,
            forms=parsed.forms,
            written=parsed.written,
        )
        pool = DescribedMolecules.of(plain, block.traits, Scales(self.pool.moments, self.ranks))
        structures = structures_of(self.earlier, pool, settings)
        books = match_rows(self.rows, pool, structures, settings.trust_ids, settings.most_atoms)
        outside = outsiders(self.earlier, structures, pool, books)
        if not outside:
            return pool, books, pool, block
        added = read_outside(outside, settings.most_atoms, pool.forms)
        return pool, books, pool.join(added), block
