"""Read results of other assays. They are used for training, but their molecules or graphs are never suggested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np

from agents.contract import SourceResults
from graph_bandit_campaign.checks import check_value
from graph_bandit_campaign.pool.index import PoolIndex, PoolLike
from graph_bandit_campaign.results.classes import read_classes
from graph_bandit_campaign.results.facts import SIGNS
from graph_bandit_campaign.results.matching import Matcher
from graph_bandit_campaign.results.rows import BadResultsError, Columns, MeasuredRow, ResultTables
from graph_bandit_campaign.store import Store
from graph_bandit_campaign.text import split_name
from graph_bandit_env import MoleculeSet, canonical_smiles
from graph_bandit_env.pools import MOST_ATOMS
from graph_bandit_env.tables import Table

CAMPAIGN = ".campaign.json"  # end of the name of a campaign file
MOST_RESULTS = 5000  # of all assays: the cost of the posterior grows as the cube of their number

OtherAssay: TypeAlias = Mapping[str, float | str | Sequence[float | str]]
"""Results of an assay by id in the pool or, for molecules, by SMILES: a number, a bound such as ">4.5", one of two
classes such as "active", or several of these."""


@dataclass(frozen=True)
class OtherTable:
    """The results of another assay, as they are in a file."""

    name: str
    """Name of the assay: that of its column or goal, preceded by that of the file if the name is taken."""
    path: Path
    """The file."""
    rows: Sequence[MeasuredRow]
    """Rows with a number or a bound."""
    remarks: Sequence[str] = ()
    """Remarks about the file, for people."""


def tables_of(related: Mapping[str, OtherAssay], pool: PoolLike) -> list[OtherTable]:
    """Convert results by id or SMILES to tables.

    Args:
        related: results by the name of the assay.
        pool: the candidates.

    Raises:
        ValueError: if a result is not a finite number, a bound or one of two classes.
    """
    tables, are_molecules = list[OtherTable](), isinstance(pool, MoleculeSet)
    for name, results in sorted(related.items()):
        records = list[tuple[int, list[str]]]()
        for key, given in results.items():
            structure = key if are_molecules and canonical_smiles(key) else ""
            for each in given if isinstance(given, list | tuple) else [given]:
                cell = each if isinstance(each, str) else repr(check_value(key, cast(float, each)))
                records.append((len(records) + 1, [key, structure, cell]))
        table = Table(Path(name), ("id", "smiles", "value"), records, "result")
        tables.append(replace(_read_table(ResultTables([table]), Columns("value")), name=name))
    return tables


def read_other_tables(
    texts: Sequence[str], identifier: str | None, smiles: str, goals: Collection[str] = ()
) -> list[OtherTable]:
    """Read the files of `--related-assay`, whose order does not matter.

    Cells with `failed` or `pending` count as empty. Two classes become bounds on either side of 0.

    Args:
        texts: as on the command line: tables or campaigns, or `FILE:COLUMN`.
        identifier: column of the names. None means `id`.
        smiles: column of the SMILES.
        goals: names of the measured quantities of this campaign.

    Raises:
        ValueError, OSError, ImportError: if a file or a row cannot be read, or the column is missing or ambiguous.
    """
    read = list[OtherTable]()
    for text in texts:
        path, column = split_name(text)
        if path.name.lower().endswith(CAMPAIGN):
            read += _read_campaign(path, column)
        else:
            tables = ResultTables.open([path])
            column = column or _only_column(tables, Columns("", identifier, smiles))
            read.append(_read_table(tables, Columns(column, identifier, smiles)))
    return _with_names(read, goals)


def _with_names(tables: list[OtherTable], goals: Collection[str]) -> list[OtherTable]:
    """Return tables sorted by unique names: those of their columns, or of file and column.

    Raises:
        ValueError: if two have the same name.
    """
    count = Counter(name.casefold() for name in (*goals, *(table.name for table in tables)))
    for k, table in enumerate(tables):
        if count[table.name.casefold()] > 1:
            tables[k] = replace(table, name=f"{table.path.name.partition('.')[0]} {table.name}")
    names = sorted(table.name for table in tables)
    if len({*names}) < len(names):
        raise ValueError(f"Expected `--related-assay` columns and tables with different names. Got {', '.join(names)}.")
    return sorted(tables, key=lambda table: table.name)


def _read_table(tables: ResultTables, columns: Columns) -> OtherTable:
    table, column = tables.tables[0], columns.value
    words, _, remark = read_classes(tables, column)
    told = tables.read(replace(columns, words=words))
    rows = [row for row in told.rows if isinstance(row.value, float)]
    if words:  # a hit lies above an arbitrary threshold
        rows = [replace(row, value=0.0, bound=">" if row.value else "<") for row in rows]
    return OtherTable(column, table.path, rows, [*[remark] * bool(words), *told.remarks])


def _read_campaign(path: Path, name: str | None) -> list[OtherTable]:
    """Return the measurements of another campaign, for each of its goals or for one.

    A molecule is known in another pool only if the file has its structure: if it was suggested or measured.
    """
    if (state := Store(path).state) is None:
        raise FileNotFoundError(f"There is no campaign {path}.")
    tables = [
        OtherTable(
            quantity or "values",
            path,
            [
                MeasuredRow(f"{path}, `{each.id}`", each.id, state.structures[each.id], each.value, SIGNS[each.bound])
                for each in state.measured
                if each.goal in ("", quantity) and each.id in state.structures
            ],
        )
        for quantity in state.quantities
        if name is None or quantity.casefold() == name.casefold()
    ]
    if not tables:
        raise ValueError(f"{path} has no goal `{name}`. It has {', '.join(state.quantities)}.")
    return tables


def _only_column(tables: ResultTables, columns: Columns) -> str:
    (table,) = tables.tables
    naming = columns.naming_of(table)
    others = [name for name in table.columns if name and name not in (naming.smiles, naming.identifier)]
    if len(others) != 1:
        raise ValueError(f"Name a column, `--related-assay {table.path}:COLUMN`: {', '.join(others) or 'it has none'}.")
    return others[0]


def sources_of(
    tables: Sequence[OtherTable], pool: PoolLike, most_atoms: int = MOST_ATOMS
) -> tuple[tuple[SourceResults, ...], list[str]]:
    """Find the molecules or graphs of the rows of other assays.

    A row with a SMILES is the molecule of that SMILES, regardless of its id, which may belong to another project. Other
    graphs are found by id.

    Args:
        tables: the tables.
        pool: the candidates.
        most_atoms: maximum number of atoms of a molecule, without hydrogens.

    Returns:
        The mean value of each molecule, and its bounds, by its SMILES, or by id for other graphs. And remarks about the
        tables, for people.

    Raises:
        ValueError: if the molecule or graph of a row is not found, all rows of a table are equal, or there are too many
            results.
    """
    sources, remarks = list[SourceResults](), list[str]()
    known = {*pool.smiles} if isinstance(pool, MoleculeSet) else {*PoolIndex(pool).ids}
    noun = "molecules" if isinstance(pool, MoleculeSet) else "graphs"
    for table in tables:
        results = _results_of(table.rows, pool, most_atoms)
        if len({(side, value * (side == 0)) for _, value, side in results}) < 2:
            raise ValueError(f"`{table.name}` of {table.path} has no two results that differ. Leave it out.")
        keys, values, sides = zip(*results, strict=True)
        sources.append(SourceResults(table.name, keys, np.array(values), np.array(sides, np.int64)))
        places = f"{len(known.intersection(keys))} of them in the pool"
        remarks.append(f"{len(set(keys))} {noun} with `{table.name}` from {table.path.name}, {places}")
        remarks += table.remarks
    total = sum(len(source.graphs) for source in sources)
    if total > MOST_RESULTS:
        raise ValueError(f"Give at most {MOST_RESULTS:,} results of other assays. Got {total:,}.")
    return tuple(sources), remarks


def _results_of(rows: Sequence[MeasuredRow], pool: PoolLike, most_atoms: int) -> list[tuple[str, float, int]]:
    """Return key, value and side of each result, in an order that does not depend on the rows."""
    matcher = Matcher(pool, most_atoms=most_atoms, knows_tautomers=False)  # since there are thousands in other projects
    are_molecules = isinstance(pool, MoleculeSet)
    values, bounds, problems = dict[str, list[float]](), set[tuple[str, float, int]](), list[str]()
    for row in rows:
        is_elsewhere = are_molecules and row.smiles not in ("", row.identifier)
        try:
            key, _ = matcher.find(replace(row, identifier="") if is_elsewhere else row)
            is_graph = not are_molecules and row.smiles.startswith(f"{row.identifier}: ")
            if is_graph and matcher.index.structures(matcher.index.indices([key])).get(key) != row.smiles:
                raise ValueError(f"`{row.identifier}` is another graph in the pool.")
        except ValueError as error:
            problems.append(f"{row.where}: {error}")
            continue
        key = matcher.structure(key) or key
        if row.bound:
            bounds.add((key, float(row.value), 1 if row.side == "above" else -1))
        else:
            values.setdefault(key, []).append(float(row.value))
    if problems:
        raise BadResultsError(problems)
    return sorted([*bounds, *((key, sum(numbers) / len(numbers), 0) for key, numbers in values.items())])
