"""Preview a pool and results before a campaign starts, including every row that would be left out."""

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

FIRST = 5  # number of rows to show
MOST_BAD = 100  # number of bad rows to list
NO_RESULT = "This counts as no result."


@dataclass(frozen=True)
class PoolPreview:
    """The contents of a pool."""

    kind: str
    """`molecules`, `experiments` of several slots, `products` of a library, or other `graphs`."""
    count: int
    """Number of candidates."""
    columns: tuple[str, ...] = ()
    """All columns of the table."""
    numbers: tuple[str, ...] = ()
    """Columns with numbers."""
    taken: Mapping[str, str] = field(default_factory=dict)
    """The columns of structures and names, by `smiles` and `id`. A missing column is an empty text."""
    slots: tuple[str, ...] = ()
    """The columns of the slots of experiments."""
    sheets: tuple[str, ...] = ()
    """Sheets of a workbook."""
    first: tuple[tuple[str, ...], ...] = ()
    """The first rows, as written. For other graphs, the first ids."""
    bad: tuple[str, ...] = ()
    """The first hundred rows that cannot be read, with explanations."""
    bad_count: int = 0
    """Total number of such rows."""
    notes: tuple[str, ...] = ()
    """Sentences about columns, equal molecules, salts and sheets."""
    problem: str = ""
    """Explanation of an invalid pool, which may be valid with other columns. Empty for a valid pool."""


@dataclass(frozen=True)
class ResultRow:
    """A row of a table of results."""

    where: str
    """File, sheet and number of the row."""
    id: str
    """Id of its graph in the pool. For a bad row, as written."""
    smiles: str
    """Structure of the graph. For a bad row, as written."""
    values: Mapping[str, str]
    """Values for each goal, as in the cells of the table."""
    problem: str = ""
    """Explanation of an invalid row. Empty for a valid row."""
    outside: bool = False
    """True if the graph is not in the pool. It is then used for training, but not suggested."""
    before: Mapping[str, str] = field(default_factory=dict)
    """Other results of the graph in the campaign, by goal."""


@dataclass(frozen=True)
class ResultsPreview:
    """The rows of a table of results, before they are added."""

    columns: tuple[str, ...]
    """All columns of the table."""
    sheets: tuple[str, ...]
    """Sheets of a workbook."""
    taken: Mapping[str, str]
    """The columns to read, by `id`, `smiles` and the names of the goals."""
    rows: tuple[ResultRow, ...]
    """Valid and invalid rows with a result."""
    notes: tuple[str, ...]
    """Remarks about the table."""


def preview_pool(source: Source) -> PoolPreview:
    """Read a pool as `suggest` does, but list bad rows instead of rejecting them.

    Args:
        source: the pool and its reading options.

    Raises:
        ValueError, OSError: if the file cannot be read at all.
        ImportError: if a package for reading it is not installed.
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
    """Read the results in a table for the goals of a campaign, row by row, without changing the campaign.

    Args:
        place: the campaign.
        table: path of the table.
        columns: columns of the table by `id`, `smiles` and the names of goals, if not those of the command.
        sheet: sheet of a workbook. None means the first.

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
            with suppress(ValueError):  # errors about words, which are reported row by row
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
