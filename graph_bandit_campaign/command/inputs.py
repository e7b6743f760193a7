"""Read what a round needs: the pool, or what is known of it, and the tables."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from agents.molecule import Ranks
from graph_bandit_campaign.command.pools.offer import Rounds
from graph_bandit_campaign.command.pools.other_graphs import GraphRounds, read_other_graphs
from graph_bandit_campaign.command.pools.products import ProductRounds, product_columns
from graph_bandit_campaign.command.pools.refusals import refuse_for_products
from graph_bandit_campaign.command.pools.rows import RowRounds, search
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.command.wishes import Wishes, read_wishes
from graph_bandit_campaign.model.made import ProductPool
from graph_bandit_campaign.pool.descriptors import find_most_rows, reads_graphs, reads_stereo, refuse_large
from graph_bandit_campaign.pool.own_columns import Features, rank_own_columns
from graph_bandit_campaign.pool.prepared.making.run import open_table_pool
from graph_bandit_campaign.pool.prepared.pool import PreparedPool
from graph_bandit_campaign.results.rows import Columns, ResultTables
from graph_bandit_campaign.state import CampaignState
from graph_bandit_campaign.text import are_one, split_name
from graph_bandit_env import GraphPool
from graph_bandit_env.files import digest, is_file_of_graphs
from graph_bandit_env.pools.products import read_product_library
from graph_bandit_env.tables import Table, is_part, refuse_differing

MOST_WHOLE = 100_000  # molecules of a pool that is read into memory as a whole; of a larger one the best are


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a command reads, before results are matched with the pool."""

    rounds: Rounds
    """The pool, from which rounds are chosen."""
    wishes: Wishes
    """Limits and goals, and the rows of results."""
    size: int
    """How many graphs the pool has."""
    content: Sequence[object]
    """What the pool and other files hold, but for results."""
    features: Features | None = None
    """The user's own columns."""
    tables: Sequence[str] = ()
    """Remarks about the pool, for people."""

    @property
    def digest(self) -> str:
        """Return a digest of what was read, but for results."""
        content = [*self.content, self.wishes.limits.content()]
        content += [[other.name, [(row.where, str(row.value)) for row in other.rows]] for other in self.wishes.others]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def search_pool(settings: SuggestSettings, names: Collection[str], smiles: Collection[str] = ()) -> GraphPool:
    """Return the graphs of a pool that may have some names or structures; other tables are not read.

    Args:
        settings: settings of the command.
        names: names of graphs.
        smiles: SMILES of molecules.

    Raises:
        ValueError, OSError, ImportError: as `read_inputs`.
    """
    if settings.pool.suffix.lower() == ".toml":
        library, _ = read_product_library(settings.pool, settings.allow_outside)
        products = ProductPool(library, settings.most_atoms, settings.salts)
        return products.take(products.find(names)) or products.one()
    if is_file_of_graphs(settings.pool):
        return read_other_graphs(settings, None)[0]
    return search(_open_pool(settings, None)[0], settings.most_atoms, names, smiles)


def read_inputs(settings: SuggestSettings, earlier: CampaignState | None, tables: ResultTables) -> Inputs:
    """Read pool and tables.

    Args:
        settings: settings of the command.
        earlier: state of the campaign.
        tables: the tables of results.

    Raises:
        ValueError, OSError: if a table cannot be read, or the pool does not fit into memory.
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
    """Open the molecules of a table."""
    pool, sheets = _open_pool(settings, earlier)
    made, entry, manifest = pool.manifest.question, pool.entry, pool.manifest
    header = Table(settings.pool, (*filter(None, (made.smiles, made.identifier)), *pool.columns), ())
    list(header.rows(settings.source.columns))  # there are no rows; a column that is missing is refused
    own = tuple(dict.fromkeys((*settings.source.columns, *entry.names)))
    features = Features(own, settings.source.embeddings, settings.quantities)
    smiles = made.smiles if settings.smiles == "smiles" else settings.smiles
    identifier = settings.id or made.identifier
    of_results = Columns(settings.target, identifier, smiles, own, settings.noise, entry)
    wishes = read_wishes(settings, earlier, tables, pool.columns, of_results)
    if any(are_one(settings.pool, path) for path in settings.measured):  # left out once is left out
        table = next(pool.blocks(())).cells.table
        bad = {table.where(row) for row, _ in pool.read_bad_rows()}
        rows = wishes.read.rows
        rows |= {name: [row for row in read if row.where not in bad] for name, read in rows.items()}
    _refuse_differing(pool, settings, wishes)
    is_whole = _is_whole(pool, settings, earlier, wishes, features)
    ranks = Ranks.of_runs([]) if is_whole else rank_own_columns(pool, own, settings.skip_bad_rows)
    rounds = RowRounds(pool, settings, wishes, features, ranks, replace(settings.source, columns=own), is_whole)
    read = dict.fromkeys((*wishes.names.columns, *settings.source.columns))
    content: list[object] = [manifest.entries, pool.digest(tuple(read))]
    content += [[*each.names, hashlib.sha256(each.values.tobytes()).hexdigest()] for each in features.embeddings]
    remarks = [f"{manifest.merged:,} rows of equal molecules merged"] * bool(manifest.merged)
    bad_rows = f", which {pool.bad_rows} lists" * settings.pool.is_dir()
    remarks += [f"{manifest.bad:,} bad rows left out{bad_rows}"] * bool(manifest.bad)
    if entry.words:
        remarks += [f"an entry is a molecule with its {' and '.join(entry.words)}"]
    if by_name := [name for name in manifest.differing if not is_part(name)]:
        remarks += [f"rows of one molecule may differ in {' and '.join(by_name)}, by the name of the column"]
    remarks += [*_values_in_pool(pool, settings, earlier), *sheets]
    return Inputs(rounds, wishes, len(pool), content, features, remarks)


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
    pool: PreparedPool, settings: SuggestSettings, earlier: CampaignState | None, wishes: Wishes, features: Features
) -> bool:
    """Return whether all of a pool is read into memory: a small one that fits, or what cannot be ranked part by part.

    Raises:
        ValueError: if it has to fit and does not.
    """
    agent = settings.agent or (earlier.agent if earlier and not earlier.by_default else None)
    graphs = reads_graphs(agent)
    most = find_most_rows(
        max(len(earlier.measured) if earlier else 0, *map(len, wishes.read.rows.values())), features.count, graphs
    )
    prices_differ = settings.price is not None and settings.terms.one_price is None and not settings.budget_only
    if graphs or features.embeddings or (wishes.goals and prices_differ):
        refuse_large(settings.pool, len(pool), most)
        return True
    return len(pool) <= min(MOST_WHOLE, most)


def _refuse_differing(pool: PreparedPool, settings: SuggestSettings, wishes: Wishes) -> None:
    """Refuse rows of one molecule that differ, unless it was said what they are."""
    known = {*settings.ignore_column, *settings.source.columns, *wishes.names.columns}
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
    """Read a library of products."""
    refuse_for_products(settings)
    library, left_out = read_product_library(settings.pool, settings.allow_outside)
    of_results = Columns(settings.target, settings.id, settings.smiles, noise=settings.noise)
    wishes = read_wishes(settings, earlier, tables, product_columns(library), of_results)
    refuse_for_products(settings, wishes.goals)
    return Inputs(ProductRounds(library, settings, wishes), wishes, len(library), [library.digest], tables=left_out)


def _read_graphs(settings: SuggestSettings, earlier: CampaignState | None, tables: ResultTables) -> Inputs:
    """Read graphs that are not molecules. Values in their file are not results."""
    pool, has_values = read_other_graphs(settings, earlier)
    of_results = Columns(settings.target, settings.id, noise=settings.noise)
    wishes = read_wishes(settings, earlier, tables, (), of_results, has_properties=False)
    if len(wishes.limits):
        raise ValueError(
            f"Expected limits on columns of the results. {settings.pool} holds other graphs than molecules, which have "
            f"no properties. Got {', '.join(limit.text for limit in wishes.limits.requirements)}."
        )
    remarks = [f"the values in {settings.pool.name} are not used as results"] * has_values
    return Inputs(GraphRounds(pool, settings), wishes, len(pool), [pool.ids, digest(pool)], tables=remarks)
