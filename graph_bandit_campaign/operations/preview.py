"""Look at a pool and at results before a campaign begins, with every row that would be left out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from graph_bandit_campaign.command.pools.opening import open_pool
from graph_bandit_campaign.operations.place import Place
from graph_bandit_campaign.pool.actions import holds_actions, open_actions
from graph_bandit_campaign.pool.library_file import read_product_library
from graph_bandit_campaign.pool.prepared.making.run import open_table_pool
from graph_bandit_campaign.pool.prepared.pool import PreparedPool
from graph_bandit_campaign.pool.source import Source
from graph_bandit_campaign.results.classes import read_classes
from graph_bandit_campaign.results.matching import Matcher
from graph_bandit_campaign.results.rows import Columns, MeasuredRow, ResultTables
from graph_bandit_campaign.text import find_column, listed, sheet_remarks
from graph_bandit_env.files import is_file_of_graphs, read_pool
from graph_bandit_env.tables import find_naming, open_table

FIRST = 5  # rows that are shown
MOST_BAD = 100  # rows that are named
NO_RESULT = "This counts as no result."


@dataclass(frozen=True)
class PoolPreview:
    """The contents of a pool."""

    kind: str
    """`molecules`, `experiments` of several slots, `products` of a library, or other `graphs`."""
    count: int
    """How many there are."""
    columns: tuple[str, ...] = ()
    """All columns of the table."""
    numbers: tuple[str, ...] = ()
    """Those of them in which there are numbers."""
    taken: Mapping[str, str] = field(default_factory=dict)
    """The columns of structures and names, by `smiles` and `id`; an empty text: there is none."""
    slots: tuple[str, ...] = ()
    """The columns of the slots of experiments."""
    sheets: tuple[str, ...] = ()
    """Sheets of a workbook."""
    first: tuple[tuple[str, ...], ...] = ()
    """The first rows, as they are written; of other graphs, the first ids."""
    bad: tuple[str, ...] = ()
    """Rows that cannot be read and why, the first hundred."""
    bad_count: int = 0
    """How many such rows there are."""
    notes: tuple[str, ...] = ()
    """Sentences about columns, equal molecules, salts and sheets."""
    problem: str = ""
    """Why it cannot be a pool like this, perhaps for other columns; empty: it can."""


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
        made, columns = pool.manifest, tuple(pool.columns)
        notes = (f"{made.bad:,} bad rows were left out, and {made.merged:,} rows of equal molecules merged.",)
        return PoolPreview("molecules", len(pool), columns, notes=notes)
    if source.path.suffix.lower() == ".toml":
        library, left_out = read_product_library(source.path)
        kind = "products" if library.parts[0].reaction else "experiments"
        return PoolPreview(kind, len(library), notes=tuple(left_out))
    if not is_file_of_graphs(source.path):
        return _preview_table(source)
    graphs = read_pool(source.path, identifier=source.id, sheet=source.sheet, directed=source.directed)
    return PoolPreview("graphs", len(graphs), first=tuple((key,) for key in graphs.ids[:FIRST]))


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
        ValueError: if the table cannot be read.
    """
    _, state = place.open()
    settings, given = place.settings(state), dict(columns or {})
    tables = ResultTables.open([table], sheet)
    (opened,) = tables.tables
    names = Columns("", given.get("id") or settings.id, given.get("smiles") or settings.smiles)
    rounds = open_pool(settings)
    names = replace(names, slots=rounds.slots)
    naming = names.naming_of(opened)
    found = {goal: find_column(given.get(goal) or goal, opened.columns, table.name) for goal in state.quantities}
    taken = {"id": naming.identifier, "smiles": naming.smiles, **{goal: name or "" for goal, name in found.items()}}
    if not any(found.values()) or not (any(naming[:2]) or names.slots_of(opened)):
        goals = [f"No column is called {' or '.join(state.quantities)}"] * (not any(found.values()))
        missing = [*goals, *["No column has a usual name of compounds"] * (not any(naming[:2]))]
        return ResultsPreview(opened.columns, opened.sheets, taken, (), (*naming.remarks, *missing))
    read, bad = dict[str, list[MeasuredRow]](), dict[str, str]()
    for goal, name in found.items():
        if name:
            words = dict[str, float]()
            with suppress(ValueError):  # of the words, which are named one by one
                words, _, _ = read_classes(tables, name, state.kind)
            rows, _, problems = tables.look(replace(names, value=name, noise=settings.noise, words=words))
            read[goal] = rows
            bad |= {where: problem for where, _, problem in (text.partition(": ") for text in problems)}
    every = [row for rows in read.values() for row in rows]
    names_of, smiles = {row.identifier for row in every}, {row.smiles for row in every} - {""}
    pool = rounds.search(names_of | {*state.structures}, smiles)
    matcher = Matcher(pool, state.structures, settings.most_atoms)
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
    with open_table(table, sheet) as again:
        texts = dict.fromkeys((*filter(None, taken.values()),))
        for number, cells in again.rows((), [*texts]):
            cell, where = dict(zip(texts, cells, strict=True)), again.where(number)
            values = {goal: cell[name] for goal, name in found.items() if name and cell[name]}
            if where not in seen and (values or where in bad):
                name, structure = (cell.get(taken[use], "") for use in ("id", "smiles"))
                seen[where] = ResultRow(where, name, structure, values, bad.get(where, NO_RESULT))
    notes = (*naming.remarks, *sheet_remarks(opened, sheet, "the sheet"))
    return ResultsPreview(opened.columns, opened.sheets, taken, tuple(seen.values()), tuple(notes))


def _preview_table(source: Source) -> PoolPreview:
    with open_table(source.path, source.sheet) as table:
        naming = find_naming(table, source.smiles, source.id)
        names = tuple(filter(None, table.columns))
        first = tuple(tuple(cells) for _, cells in islice(table.rows((), names), FIRST))
    seen = PoolPreview(
        "molecules",
        0,
        names,
        taken={"smiles": naming.smiles, "id": naming.identifier},
        slots=source.slot,
        sheets=table.sheets,
        first=first,
    )
    if holds_actions(source):
        return _preview_actions(source, replace(seen, taken={"id": naming.identifier}))
    try:
        pool, remarks = open_table_pool(replace(source, skip_bad_rows=True))
    except ValueError as error:
        return replace(seen, problem=str(error))
    molecules, header = pool.load(), next(pool.blocks(())).cells.table
    cells = {
        name: [text for block in pool.blocks((), [name]) for text in block.cells.texts[name]] for name in pool.columns
    }
    notes = [f"{remark[:1].upper()}{remark[1:]}." for remark in remarks]
    notes += [f"{molecules.merged} rows of equal molecules were merged."] * bool(molecules.merged)
    salts = list(molecules.written)
    notes += [f"Salts or charged molecules, described by their parent: {listed(salts)}."] * bool(salts)
    return replace(
        seen,
        count=len(molecules),
        numbers=tuple(name for name, texts in cells.items() if any(map(table.is_number, texts))),
        bad=tuple(f"{header.where(row)}: {problem}" for row, problem in molecules.skipped[:MOST_BAD]),
        bad_count=len(molecules.skipped),
        notes=tuple(notes),
    )


def _preview_actions(source: Source, seen: PoolPreview) -> PoolPreview:
    try:
        table = open_actions(replace(source, skip_bad_rows=True))
    except ValueError as error:
        return replace(seen, kind="experiments", problem=str(error))
    notes = [*table.remarks, *[f"rows of one experiment differ in {listed(table.differing)}"] * bool(table.differing)]
    return replace(
        seen,
        kind="experiments",
        count=len(table.actions),
        numbers=tuple(name for name, texts in table.cells.items() if any(map(table.body.is_number, texts))),
        slots=tuple(table.columns.values()),
        bad=tuple(f"{table.body.where(row)}: {problem}" for row, problem in table.bad[:MOST_BAD]),
        bad_count=len(table.bad),
        notes=tuple(f"{note[:1].upper()}{note[1:]}." for note in notes),
    )
