"""Look at a pool and at results before a campaign begins, with every row that would be left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph_bandit_campaign.pool.prepared import PreparedPool, open_table_pool
from graph_bandit_campaign.pool.source import Source
from graph_bandit_campaign.results.books import Books
from graph_bandit_campaign.text import listed
from graph_bandit_env.files import is_file_of_graphs, read_pool
from graph_bandit_env.pools.products import read_product_library
from graph_bandit_env.tables import Table

FIRST = 5  # molecules that are shown
MOST_BAD = 100  # rows that are named


@dataclass(frozen=True)
class ColumnPreview:
    """A column of a table."""

    name: str
    """Its name."""
    filled: int | None = None
    """How many cells are not empty; None: the cells of a prepared pool are not looked at."""
    numbers: int | None = None
    """How many of them are numbers; None: as above."""


@dataclass(frozen=True)
class PoolPreview:
    """The contents of a pool."""

    kind: str
    """`molecules`, `products` of a library, or other `graphs`."""
    count: int
    """How many there are."""
    columns: tuple[ColumnPreview, ...]
    """Columns other than those of names and SMILES."""
    first: tuple[tuple[str, str], ...]
    """Id and SMILES of the first molecules; of other graphs, the ids alone."""
    bad: tuple[str, ...]
    """Rows that cannot be read and why, the first hundred."""
    bad_count: int
    """How many such rows there are."""
    notes: tuple[str, ...]
    """Sentences about equal molecules, salts and sheets."""


@dataclass(frozen=True)
class ResultsPreview:
    """The contents of tables of results, those of before among them."""

    values: int
    """How many exact values there are."""
    bounds: tuple[str, ...]
    """Ids of which only a bound is known, with it."""
    failed: tuple[str, ...]
    """Ids of what could not be measured."""
    pending: tuple[str, ...]
    """Ids that are called pending."""
    outside: tuple[str, ...]
    """Ids that are not in the pool: they teach, and are not suggested."""
    doubts: tuple[str, ...]
    """Sentences about results to check."""


def preview_pool(source: Source) -> PoolPreview:
    """Read a pool as `suggest` does, but leave out bad rows and name them.

    Args:
        source: the pool, and how it is read.

    Raises:
        ValueError, OSError: if the file cannot be read at all.
        ImportError: if a package that reads it is not installed.
    """
    if source.path.is_dir():
        pool = PreparedPool.open(source.path)
        made, columns = pool.manifest, tuple(ColumnPreview(name) for name in pool.columns)
        notes = (f"{made.bad:,} bad rows were left out, and {made.merged:,} rows of equal molecules merged.",)
        return PoolPreview("molecules", len(pool), columns, (), (), 0, notes)
    if source.path.suffix.lower() == ".toml":
        library, left_out = read_product_library(source.path)
        return PoolPreview("products", len(library), (), (), (), 0, tuple(left_out))
    if not is_file_of_graphs(source.path):
        return _preview_table(*open_table_pool(replace(source, skip_bad_rows=True)))
    graphs = read_pool(source.path, identifier=source.identifier, sheet=source.sheet, directed=source.directed)
    return PoolPreview("graphs", len(graphs), (), tuple((key, "") for key in graphs.ids[:FIRST]), (), 0, ())


def preview_results(books: Books, doubts: Sequence[str]) -> ResultsPreview:
    """Say what results are about.

    Args:
        books: the results.
        doubts: sentences about results to check.
    """
    return ResultsPreview(
        values=sum(not result.bound for result in books.results),
        bounds=tuple(f"{key} ({text})" for key, text in books.bounds.items()),
        failed=books.failed,
        pending=books.pending,
        outside=tuple(books.outside),
        doubts=tuple(doubts),
    )


def _preview_table(pool: PreparedPool, remarks: Sequence[str]) -> PoolPreview:
    molecules, header, columns = pool.load(), next(pool.blocks(())).cells.table, []
    for name in pool.columns:
        texts = [text.strip() for block in pool.blocks((), [name]) for text in block.cells.texts[name] if text.strip()]
        columns.append(ColumnPreview(name, len(texts), sum(_is_number(header, text) for text in texts)))
    notes = [f"{molecules.merged} rows of equal molecules were merged."] * bool(molecules.merged)
    salts = list(molecules.written)
    notes += [f"Salts or charged molecules, described by their parent: {listed(salts)}."] * bool(salts)
    return PoolPreview(
        kind="molecules",
        count=len(molecules),
        columns=tuple(columns),
        first=tuple(zip(molecules.ids[:FIRST], molecules.smiles[:FIRST], strict=True)),
        bad=tuple(f"{header.where(row)}: {problem}" for row, problem in molecules.skipped[:MOST_BAD]),
        bad_count=len(molecules.skipped),
        notes=(*notes, *(f"{remark[:1].upper()}{remark[1:]}." for remark in remarks)),
    )


def _is_number(table: Table, text: str) -> bool:
    try:
        return table.number(text) is not None
    except ValueError:
        return False
