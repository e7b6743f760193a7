"""Read what a round needs: the pool, or what is known of it, and the results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from graph_bandit_campaign.assays.matched import OtherAssays, match_other_tables
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.asked import Asked, read_asked
from graph_bandit_campaign.command.pools.offer import Offer, describe_others, select
from graph_bandit_campaign.command.pools.other_graphs import read_other_graphs
from graph_bandit_campaign.command.pools.products import (
    ProductRounds,
    product_columns,
    refuse_options,
)
from graph_bandit_campaign.command.pools.short_lists import ShortLists
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.offers import Offers
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.constraints.limits.selection import Selection
from graph_bandit_campaign.model.learner import DEFAULT, default_agent
from graph_bandit_campaign.names import are_one, sheet_remarks
from graph_bandit_campaign.pool.descriptors import describe, reads_graphs
from graph_bandit_campaign.pool.own_columns import Features, describe_own_columns, rank_own_columns
from graph_bandit_campaign.pool.prepared import PreparedPool
from graph_bandit_campaign.pool.table import Budget, TablePool, find_names
from graph_bandit_campaign.results.books import Books, join_books, match_goals
from graph_bandit_campaign.results.matched import match_molecules, read_outside
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import GraphPool, MoleculeSet
from graph_bandit_env.files import digest, is_file_of_graphs
from graph_bandit_env.pools.products import read_product_library
from graph_bandit_env.tables import Table, open_table


@dataclass(frozen=True, eq=False, kw_only=True)
class Inputs:
    """The pool and the results, before a batch is chosen."""

    in_pool: GraphPool
    """Graphs of the pool: all, or those that results and earlier rounds speak of."""
    graphs: GraphPool
    """The same, then those that are measured or pending and not in the pool."""
    books: Books
    """The results."""
    size: int
    """How many graphs the pool has."""
    offer: Callable[[Campaign], Offer]
    """Returns the graphs from which a batch is chosen, given a campaign with all results."""
    content: Sequence[object]
    """Contents of the pool, by which a question is recognised."""
    conditions: Sequence[object]
    """Own columns, limits, prices and caps, by which a question is recognised."""
    goals: tuple[Goal, ...] = ()
    """The aim for each measured quantity, limits on results included; empty with one goal."""
    features: Sequence[str] = ()
    """The user's own columns, and for how many molecules each is not known."""
    remarks: Sequence[str] = field(default_factory=list)
    """Remarks about the tables, for people."""
    also: OtherAssays = field(default_factory=OtherAssays)
    """Results of other assays."""


def read_inputs(settings: SuggestSettings, earlier: CampaignState | None, tables: ResultTables) -> Inputs:
    """Read pool and results.

    Args:
        settings: settings of the command.
        earlier: state of the campaign; its pending molecules are kept when they have left the pool.
        tables: the tables of results.

    Raises:
        ValueError, OSError: if a table cannot be read, the pool does not fit into memory, or it gives the id of a
            molecule that was suggested to another one.
        ImportError: if a package that reads a table is not installed.
    """
    if settings.pool.suffix.lower() == ".toml":
        return _read_products(settings, earlier, tables)
    if settings.pool.exists() and is_file_of_graphs(settings.pool):
        return _read_graphs(settings, earlier, tables)
    if settings.directed:
        raise ValueError(
            f"Expected no `--directed True` for molecules, whose bonds have no direction. Got {settings.pool}."
        )
    if settings.pool.is_dir():
        return _read_prepared(settings, earlier, tables)
    with open_table(settings.pool, settings.sheet) as table:
        read = _read_table(table, settings, earlier, tables)
    return _match_table(*read, settings, earlier)


def _read_table(
    table: Table, settings: SuggestSettings, earlier: CampaignState | None, tables: ResultTables
) -> tuple[TablePool, Asked, Features, list[str]]:
    """Read an open table of molecules; return them, what is asked of them, own columns, and remarks on sheets."""
    source = settings.source
    features = Features(source.columns, source.embeddings, settings.quantities)
    smiles, identifier = find_names(table, source)
    of_results = Columns(settings.target, identifier, smiles, source.columns, settings.noise)
    asked = read_asked(settings, earlier, tables, table.columns, of_results)
    budget = Budget(asked.count, features.count, reads_graphs(settings.agent), len(table.columns))
    pool = TablePool.read(table, replace(source, workers=settings.processes), budget)
    return pool, asked, features, sheet_remarks(table, settings.sheet, "--sheet")


def _match_table(
    pool: TablePool,
    asked: Asked,
    features: Features,
    sheets: Sequence[str],
    settings: SuggestSettings,
    earlier: CampaignState | None,
) -> Inputs:
    """Match a table of molecules, which is held in memory as a whole, with the results."""
    in_pool, rows = pool.molecules, asked.rows
    if [path.resolve() for path in settings.measured] == [settings.pool.resolve()]:  # left out once is left out
        left_out = {pool.cells.table.where(number) for number, _ in in_pool.skipped}
        rows = {name: [row for row in read if row.where not in left_out] for name, read in rows.items()}
    structures, pending = (earlier.structures, earlier.pending) if earlier else ({}, ())
    options = settings.trust_ids, settings.most_atoms, bool(asked.goals)
    books, outside = match_molecules(rows, in_pool, structures, pending, *options)
    molecules = in_pool.join(read_outside(outside, settings.most_atoms, in_pool.salts)) if outside else in_pool
    molecules = features.add_to(molecules, books.features)
    also = match_other_tables(asked.others, in_pool, settings.most_atoms)
    selection, constraints = select(in_pool.smiles, pool.cells, asked, settings, len(molecules))
    agent = settings.agent if settings.agent not in (None, DEFAULT) else default_agent(molecules, settings.n)
    described = describe(molecules, [agent], len(in_pool), keep=True, workers=settings.processes)

    def further(ids: Sequence[str]) -> dict[str, list[str]]:
        place_of = {name: k for k, name in enumerate(in_pool.ids)}
        index = [place_of[name] for name in ids]
        return describe_others(lambda names: pool.take(index, names), pool.columns, pool.forms(index), settings)

    note = selection.describe()
    offer = Offer(in_pool, described, selection, constraints, note, others=further)
    mask = hashlib.sha256(selection.mask.tobytes()).hexdigest()
    conditions = _content_of_columns(molecules, {*in_pool.ids, *books.outside})
    conditions += [asked.limits.content(), mask] if len(asked.limits) else []
    remarks = [f"{in_pool.merged} rows of equal molecules merged"] * bool(in_pool.merged)
    remarks += [f"{len(in_pool.written)} salts or charged molecules described by their parent"] * bool(in_pool.written)
    remarks += [f"{books.repeated} repeated results left out"] * bool(books.repeated)
    remarks += [f"{len(in_pool.skipped)} bad rows left out"] * bool(in_pool.skipped)
    remarks += _values_in_pool(pool, settings, earlier)
    return Inputs(
        in_pool=in_pool,
        graphs=described,
        books=books,
        size=len(in_pool),
        offer=lambda _: offer,
        content=[in_pool.ids, in_pool.smiles],
        conditions=conditions + constraints.content() + also.content,
        goals=asked.goals,
        features=features.describe(molecules),
        remarks=[*remarks, *sheets, *asked.remarks, *also.remarks],
        also=also,
    )


def _values_in_pool(pool: TablePool, settings: SuggestSettings, earlier: CampaignState | None) -> list[str]:
    """Name values of a goal in the pool alone, which are not learnt; refuse a first round without others."""
    if any(are_one(settings.pool, path) for path in settings.measured):
        return []
    names = {name.casefold() for name in settings.quantities}
    counts = {
        column: sum(bool(str(text).strip()) for text in texts)
        for column, texts in pool.cells.texts.items()
        if column.casefold() in names
    }
    unused = [f"{count} value{'s' * (count > 1)} of {column}" for column, count in counts.items() if count]
    if unused and not settings.measured and earlier is None:
        raise ValueError(
            f"No results were given, but {settings.pool.name} has {' and '.join(unused)}. Give it as the table of "
            f"results as well (`--measured {settings.pool}`), or take the column out of it."
        )
    return [f"{text} in {settings.pool.name} not used as results (add `--measured {settings.pool}`)" for text in unused]


def _read_prepared(settings: SuggestSettings, earlier: CampaignState | None, tables: ResultTables) -> Inputs:
    """Read what is known of a prepared pool, which is scanned for the rest."""
    pool = PreparedPool.open(settings.pool)
    made = pool.manifest.question
    if settings.source.embeddings:
        raise ValueError(
            f"Expected columns of the table that {settings.pool} was made from for `--features`. Got "
            f"{settings.source.embeddings[0]}: embeddings of a whole pool are read with a table in memory alone."
        )
    header = Table(settings.pool, (*filter(None, (made.smiles, made.identifier)), *pool.columns), ())
    list(header.rows(settings.source.columns))  # there are no rows; a column that is missing is refused
    made.refuse_others(settings.id, settings.smiles, settings.sheet, [*chain(*tables.headers)])
    features = Features(settings.source.columns, (), settings.quantities)
    smiles = made.smiles if settings.smiles == "smiles" else settings.smiles
    of_results = Columns(
        settings.target, settings.id or made.identifier, smiles, settings.source.columns, settings.noise
    )
    asked = read_asked(settings, earlier, tables, pool.columns, of_results)
    ranks = rank_own_columns(pool, features.columns, settings.skip_bad_rows)
    lists = ShortLists(pool, settings, earlier, asked, features, ranks)
    matched = lists.known
    also = match_other_tables(asked.others, matched.in_pool, settings.most_atoms)
    content = [made.content, *settings.terms.content(), *also.content]
    content += [features.columns, matched.added] if features.columns else []
    count, manifest = len(pool) + len(matched.molecules) - len(matched.in_pool), pool.manifest
    remarks = [f"{manifest.merged:,} rows of equal molecules merged"] * bool(manifest.merged)
    remarks += [f"{matched.books.repeated} repeated results left out"] * bool(matched.books.repeated)
    remarks += [f"{manifest.bad:,} bad rows left out, which {pool.bad_rows} lists"] * bool(manifest.bad)
    return Inputs(
        in_pool=matched.in_pool,
        graphs=matched.molecules,
        books=matched.books,
        size=len(pool),
        offer=lists.offer,
        content=content,
        conditions=[asked.limits.content(), *content],
        goals=asked.goals,
        features=describe_own_columns(features, matched.molecules, count),
        remarks=[*remarks, *asked.remarks, *also.remarks],
        also=also,
    )


def _read_products(settings: SuggestSettings, earlier: CampaignState | None, tables: ResultTables) -> Inputs:
    """Read a library of products, and make those that results and earlier rounds speak of."""
    refuse_options(settings)
    library, left_out = read_product_library(settings.pool, settings.allow_outside)
    of_results = Columns(settings.target, settings.id, settings.smiles, noise=settings.noise)
    asked = read_asked(settings, earlier, tables, product_columns(library), of_results)
    refuse_options(settings, asked.goals)
    rounds = ProductRounds(library, settings, earlier, asked)
    matched = rounds.known
    also = match_other_tables(asked.others, matched.in_pool, settings.most_atoms)
    remarks = [f"{matched.books.repeated} repeated results left out"] * bool(matched.books.repeated)
    return Inputs(
        in_pool=matched.in_pool,
        graphs=matched.molecules,
        books=matched.books,
        size=len(library),
        offer=rounds.offer,
        content=[library.digest],
        conditions=[asked.limits.content(), *settings.terms.content(), *also.content],
        goals=asked.goals,
        remarks=[*remarks, *left_out, *asked.remarks, *also.remarks],
        also=also,
    )


def _read_graphs(settings: SuggestSettings, earlier: CampaignState | None, tables: ResultTables) -> Inputs:
    """Read graphs that are not molecules. Values in their file are not results."""
    pool, identifier, has_values = read_other_graphs(settings, earlier)
    of_results = Columns(settings.target, identifier, noise=settings.noise)
    asked = read_asked(settings, earlier, tables, (), of_results, has_properties=False)
    if len(asked.limits):
        raise ValueError(
            f"Expected limits on columns of the results. {settings.pool} holds other graphs than molecules, which have "
            f"no properties. Got {', '.join(limit.text for limit in asked.limits.requirements)}."
        )
    by_goal = match_goals(asked.rows, pool)
    books = join_books(by_goal) if asked.goals else by_goal[settings.target]
    selection = Selection((), np.full(len(pool), -1), np.zeros(len(pool), np.bool_))
    also = match_other_tables(asked.others, pool, settings.most_atoms)
    prices = np.full(len(pool), settings.terms.one_price or 0.0)
    constraints = Offers(prices, [""] * len(pool)).constraints(settings.terms, len(pool))
    offer = Offer(pool, pool, selection, constraints)
    remarks = [f"{books.repeated} repeated results left out"] * bool(books.repeated)
    remarks += [f"the values in {settings.pool.name} are not used as results"] * has_values
    return Inputs(
        in_pool=pool,
        graphs=pool,
        books=books,
        size=len(pool),
        offer=lambda _: offer,
        content=[pool.ids, [digest(pool)]],
        conditions=constraints.content() + also.content,
        goals=asked.goals,
        remarks=[*remarks, *asked.remarks, *also.remarks],
        also=also,
    )


def _content_of_columns(molecules: MoleculeSet, ids: Collection[str]) -> list[object]:
    """Return the names of the columns of some molecules and a digest of their values; nothing without columns."""
    if not molecules.column_names:
        return []
    rows = molecules.columns[[k for k, identifier in enumerate(molecules.ids) if identifier in ids]]
    values = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows + 0.0), "<f8")  # one form of NaN, and of zero
    return [molecules.column_names, hashlib.sha256(values.data).hexdigest()]
