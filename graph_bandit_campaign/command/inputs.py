"""Read what a round needs: the pool, or what is known of it, and the results."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from agents.molecule import Ranks
from graph_bandit_campaign.assays.tables import OtherAssays, match_other_tables
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.asked import Asked, read_asked
from graph_bandit_campaign.command.pools.offer import Known, Offer
from graph_bandit_campaign.command.pools.other_graphs import read_other_graphs
from graph_bandit_campaign.command.pools.products import ProductRounds, product_columns
from graph_bandit_campaign.command.pools.refusals import refuse_for_products
from graph_bandit_campaign.command.pools.rows import RowRounds
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.offers import Offers
from graph_bandit_campaign.constraints.limits.limits import Selection
from graph_bandit_campaign.names import are_one, split_name
from graph_bandit_campaign.pool.descriptors import find_most_rows, reads_graphs, reads_stereo, refuse_large
from graph_bandit_campaign.pool.own_columns import Features, rank_own_columns
from graph_bandit_campaign.pool.prepared import PreparedPool, open_table_pool
from graph_bandit_campaign.results.books import match_results
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_env import GraphPool
from graph_bandit_env.files import digest, is_file_of_graphs
from graph_bandit_env.pools.products import read_product_library
from graph_bandit_env.tables import Table, is_part, refuse_differing

MOST_WHOLE = 100_000  # molecules of a pool that is read into memory as a whole; of a larger one the best are


@dataclass(frozen=True, eq=False)
class Inputs:
    """The pool and the results, before a batch is chosen."""

    asked: Asked
    """The rows of results, limits and goals."""
    known: Known[GraphPool]
    """Graphs of the pool, with their results."""
    also: OtherAssays
    """Results of other assays."""
    size: int
    """How many graphs the pool has."""
    offer: Callable[[Campaign], Offer]
    """Returns the graphs from which a batch is chosen, given a campaign with all results."""
    content: Sequence[object]
    """Contents of the pool, by which a question is recognised."""
    conditions: Sequence[object]
    """Own columns, limits, prices and caps, by which a question is recognised."""
    features: Sequence[str] = ()
    """The user's own columns, and for how many molecules each is not known."""
    tables: Sequence[str] = ()
    """Remarks about the pool, for people."""

    @property
    def remarks(self) -> list[str]:
        """Return remarks about all tables, for people."""
        repeated = self.known.books.repeated
        remarks = [*self.tables, *[f"{repeated} repeated results left out"] * bool(repeated)]
        return [*remarks, *self.asked.remarks, *self.also.remarks]


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
    return _read_rows(settings, earlier, tables)


def _read_rows(settings: SuggestSettings, earlier: CampaignState | None, tables: ResultTables) -> Inputs:
    """Read what is known of the molecules of a table, or all of them."""
    pool, sheets = _open_pool(settings, earlier)
    made, entry = pool.manifest.question, pool.entry
    header = Table(settings.pool, (*filter(None, (made.smiles, made.identifier)), *pool.columns), ())
    list(header.rows(settings.source.columns))  # there are no rows; a column that is missing is refused
    made.refuse_others(settings.id, settings.smiles, settings.sheet, [*chain(*tables.headers)])
    own = tuple(dict.fromkeys((*settings.source.columns, *entry.names)))
    features = Features(own, settings.source.embeddings, settings.quantities, entry)
    smiles = made.smiles if settings.smiles == "smiles" else settings.smiles
    identifier = settings.id or made.identifier
    asked = read_asked(
        settings,
        earlier,
        tables,
        pool.columns,
        Columns(settings.target, identifier, smiles, own, settings.noise, entry),
    )
    _refuse_differing(pool, settings, asked)
    is_whole = _is_whole(pool, settings, earlier, asked, features)
    ranks = Ranks.of_runs([]) if is_whole else rank_own_columns(pool, own, settings.skip_bad_rows)
    source = replace(settings.source, columns=own)
    rounds = RowRounds(pool, settings, earlier, asked, features, ranks, source, is_whole)
    known, manifest = rounds.known, pool.manifest
    also = match_other_tables(asked.others, known.in_pool, settings.most_atoms)
    read = dict.fromkeys((*asked.names.columns, *settings.source.columns))
    content = [manifest.entries, pool.digest(tuple(read))]
    conditions = [asked.limits.content(), *settings.terms.content(), *also.content]
    conditions += [[*settings.features], known.added, sorted(known.books.features.items())] if own else []
    conditions += [[*each.names, hashlib.sha256(each.values.tobytes()).hexdigest()] for each in features.embeddings]
    count = len(pool) + len(known.graphs) - len(known.in_pool)
    described = features.describe(known.graphs, count)
    forms = len(known.in_pool.written) if is_whole else 0
    remarks = [f"{manifest.merged:,} rows of equal molecules merged"] * bool(manifest.merged)
    remarks += [f"{forms:,} salts or charged molecules described by their parent"] * bool(forms)
    bad_rows = f", which {pool.bad_rows} lists" * settings.pool.is_dir()
    remarks += [f"{manifest.bad:,} bad rows left out{bad_rows}"] * bool(manifest.bad)
    if entry.words:
        remarks += [f"an entry is a molecule with its {' and '.join(entry.words)}"]
    if by_name := [name for name in manifest.differing if not is_part(name)]:
        remarks += [f"rows of one molecule may differ in {' and '.join(by_name)}, by the name of the column"]
    remarks += [*_values_in_pool(pool, settings, earlier), *sheets]
    return Inputs(asked, known, also, len(pool), rounds.offer, content, conditions, described, remarks)


def _open_pool(settings: SuggestSettings, earlier: CampaignState | None) -> tuple[PreparedPool, list[str]]:
    """Return a prepared pool, or a table as one, and remarks on sheets."""
    if not settings.pool.is_dir():
        stereo = reads_stereo(settings.agent or (earlier.agent if earlier else None))
        return open_table_pool(settings.source, stereo)
    pool = PreparedPool.open(settings.pool)
    if missing := [name for name in settings.entry_column if name not in pool.manifest.entry]:
        raise ValueError(
            f"Expected {settings.pool} to be prepared with `--entry-column {missing[0]}`, since that decides what an "
            "entry is. Prepare it again."
        )
    return pool, []


def _is_whole(
    pool: PreparedPool, settings: SuggestSettings, earlier: CampaignState | None, asked: Asked, features: Features
) -> bool:
    """Return whether all of a pool is read into memory: a small one that fits, or what cannot be ranked part by part.

    Raises:
        ValueError: if it has to fit and does not.
    """
    agent = settings.agent or (earlier.agent if earlier and not earlier.by_default else None)
    graphs = reads_graphs(agent)
    most = find_most_rows(asked.count, features.count, graphs)
    prices_differ = settings.price is not None and settings.terms.one_price is None and not settings.budget_only
    if graphs or features.embeddings or (asked.goals and prices_differ):
        refuse_large(settings.pool, len(pool), most)
        return True
    return len(pool) <= min(MOST_WHOLE, most)


def _refuse_differing(pool: PreparedPool, settings: SuggestSettings, asked: Asked) -> None:
    """Refuse rows of one molecule that differ, unless it was said what they are."""
    known = {*settings.ignore_column, *settings.source.columns, *asked.names.columns}
    known |= {name for name in pool.columns if name.casefold() in map(str.casefold, settings.quantities)}
    known |= {settings.noise or "", *(name for _, name in map(split_name, settings.also) if name)}
    if not settings.pool.is_dir() and settings.best_of is None:
        goals = [name for name in pool.manifest.differing if name in settings.quantities]
        refuse_differing(pool.manifest.differing, known, settings.pool.name, next(iter(goals), ""))


def _values_in_pool(pool: PreparedPool, settings: SuggestSettings, earlier: CampaignState | None) -> list[str]:
    """Name values of a goal in the pool alone, which are not learnt; refuse a first round without others."""
    names = {name.casefold() for name in settings.quantities}
    columns = [name for name in pool.columns if name.casefold() in names]
    if not columns or settings.pool.is_dir() or any(are_one(settings.pool, path) for path in settings.measured):
        return []
    counts = Counter[str]()
    for block in pool.blocks((), columns):
        for name in columns:
            counts[name] += sum(bool(text.strip()) for text in block.cells.texts[name])
    unused = [f"{count:,} value{'s' * (count > 1)} of {column}" for column, count in counts.items() if count]
    if unused and not settings.measured and earlier is None:
        raise ValueError(
            f"No results were given, but {settings.pool.name} has {' and '.join(unused)}. Give it as the table of "
            f"results as well (`--measured {settings.pool}`), or take the column out of it."
        )
    return [f"{text} in {settings.pool.name} not used as results (add `--measured {settings.pool}`)" for text in unused]


def _read_products(settings: SuggestSettings, earlier: CampaignState | None, tables: ResultTables) -> Inputs:
    """Read a library of products, and make those that results and earlier rounds speak of."""
    refuse_for_products(settings)
    library, left_out = read_product_library(settings.pool, settings.allow_outside)
    of_results = Columns(settings.target, settings.id, settings.smiles, noise=settings.noise)
    asked = read_asked(settings, earlier, tables, product_columns(library), of_results)
    refuse_for_products(settings, asked.goals)
    rounds = ProductRounds(library, settings, earlier, asked)
    also = match_other_tables(asked.others, rounds.known.in_pool, settings.most_atoms)
    conditions = [asked.limits.content(), *settings.terms.content(), *also.content]
    content, size = [library.digest], len(library)
    return Inputs(asked, rounds.known, also, size, rounds.offer, content, conditions, tables=left_out)


def _read_graphs(settings: SuggestSettings, earlier: CampaignState | None, tables: ResultTables) -> Inputs:
    """Read graphs that are not molecules. Values in their file are not results."""
    pool, has_values = read_other_graphs(settings, earlier)
    of_results = Columns(settings.target, settings.id, noise=settings.noise)
    asked = read_asked(settings, earlier, tables, (), of_results, has_properties=False)
    if len(asked.limits):
        raise ValueError(
            f"Expected limits on columns of the results. {settings.pool} holds other graphs than molecules, which have "
            f"no properties. Got {', '.join(limit.text for limit in asked.limits.requirements)}."
        )
    books = match_results(asked.rows, pool, several_goals=bool(asked.goals))
    selection = Selection((), np.full(len(pool), -1), np.zeros(len(pool), np.bool_))
    also = match_other_tables(asked.others, pool, settings.most_atoms)
    prices = np.full(len(pool), settings.terms.one_price or 0.0)
    constraints = Offers(prices, [""] * len(pool)).constraints(settings.terms, len(pool))
    offer = Offer(pool, pool, selection, constraints)
    content, conditions = [pool.ids, [digest(pool)]], [*settings.terms.content(), *also.content]
    remarks = [f"the values in {settings.pool.name} are not used as results"] * has_values
    known = Known(pool, books, pool)
    return Inputs(asked, known, also, len(pool), lambda _: offer, content, conditions, tables=remarks)
