"""Look at a pool and at results before a campaign begins, with every row that would be left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from graph_bandit_campaign.command.inputs import search_pool
from graph_bandit_campaign.operations.place import Place
from graph_bandit_campaign.pool.prepared.making.run import open_table_pool
from graph_bandit_campaign.pool.prepared.pool import PreparedPool
from graph_bandit_campaign.pool.source import Source
from graph_bandit_campaign.results.classes import read_classes
from graph_bandit_campaign.results.matching import Matcher
from graph_bandit_campaign.results.rows import Columns, MeasuredRow, ResultTables
from graph_bandit_campaign.text import find_column, listed, sheet_remarks
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
class ResultRow:
    """A row of a table of results."""

    where: str
    """File, sheet and number of the row."""
    id: str
    """Id of its graph in the pool; of a bad row, as it is written."""
    smiles: str
    """Structure of the graph; of a bad row, as it is written."""
    values: Mapping[str, str]
    """What it says of each goal, as in the cells of the table."""
    problem: str = ""
    """Why it cannot be taken in; empty: it can."""
    outside: bool = False
    """Whether the graph is not in the pool: it teaches, and is not suggested."""
    before: Mapping[str, str] = field(default_factory=dict)
    """Other results that the campaign has of it, by goal."""


@dataclass(frozen=True)
class ResultsPreview:
    """The rows of a table of results, before they are told."""

    columns: tuple[str, ...]
    """All columns of the table."""
    sheets: tuple[str, ...]
    """Sheets of a workbook."""
    taken: Mapping[str, str]
    """The columns that are read, by `id`, `smiles` and the names of the goals."""
    rows: tuple[ResultRow, ...]
    """Rows with a result, good and bad."""
    notes: tuple[str, ...]
    """Remarks about the table."""


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
    graphs = read_pool(source.path, identifier=source.id, sheet=source.sheet, directed=source.directed)
    return PoolPreview("graphs", len(graphs), (), tuple((key, "") for key in graphs.ids[:FIRST]), (), 0, ())


def preview_results(
    place: Place, table: Path, columns: Mapping[str, str] | None = None, sheet: str | None = None
) -> ResultsPreview:
    """Return what a table says of the goals of a campaign, row by row; nothing is changed.

    Args:
        place: the campaign.
        table: path of the table.
        columns: columns of the table by `id`, `smiles` and the names of goals, where they are not those of the command.
        sheet: sheet of a workbook; None: the first.

    Raises:
        ValueError: if the table cannot be read, or has no column of a goal.
    """
    _, state = place.open()
    settings, given = place.settings(state), dict(columns or {})
    tables = ResultTables.open([table], sheet)
    (opened,) = tables.tables
    names = Columns("", given.get("id") or settings.id, given.get("smiles") or settings.smiles)
    naming = names.naming_of(opened)
    found = {goal: find_column(given.get(goal) or goal, opened.columns, table.name) for goal in state.quantities}
    taken = {"id": naming.identifier, "smiles": naming.smiles, **{goal: name for goal, name in found.items() if name}}
    if not any(found.values()):
        raise ValueError(
            f"Expected a column `{state.quantities[0]}` in {table.name}. It has {', '.join(opened.columns)}."
        )
    read, bad = dict[str, list[MeasuredRow]](), dict[str, str]()
    for goal, name in found.items():
        if name:
            classed = tables
            with suppress(ValueError):  # of the words, which are named one by one
                classed, _, _ = read_classes(tables, name, state.kind)
            rows, problems = classed.look(replace(names, value=name, noise=settings.noise))
            read[goal] = rows
            bad |= {text.partition(": ")[0]: text for text in problems}
    every = [row for rows in read.values() for row in rows]
    names_of, smiles = {row.identifier for row in every}, {row.smiles for row in every} - {""}
    pool = search_pool(settings, names_of | {*state.structures}, smiles)
    matcher = Matcher(pool, state.structures, settings.trust_ids, settings.most_atoms)
    seen: dict[str, ResultRow] = {}
    for goal, rows in read.items():
        for row in rows:
            text = row.bound or (row.value if isinstance(row.value, str) else f"{row.value:.10g}")
            known, problem = seen.get(row.where), bad.pop(row.where, "")
            key, structure = row.identifier, row.smiles
            try:
                key, _ = matcher.find(row)
                structure = matcher.structure(key)
            except ValueError as error:
                problem = problem or str(error)
            own = [each.text for each in state.measured if each.id == key and each.goal in ("", goal)]
            before = {goal: ", ".join(own)} if own and own != [text] else {}
            values = {**(known.values if known else {}), goal: text}
            before = {**(known.before if known else {}), **before}
            seen[row.where] = ResultRow(
                row.where, key, structure, values, problem, key in matcher.outside and not problem, before
            )
    left = [ResultRow(where, "", "", {}, text) for where, text in bad.items() if where not in seen]
    notes = (*naming.remarks, *sheet_remarks(opened, sheet, "the sheet"))
    return ResultsPreview(opened.columns, opened.sheets, taken, (*seen.values(), *left), tuple(notes))


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
