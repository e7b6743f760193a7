"""Read results of other assays from tables, and find their molecules or graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from graph_bandit_campaign.names import find_column, split_name
from graph_bandit_campaign.results.classes import classes_as_bounds
from graph_bandit_campaign.results.matching import IdMatcher, Matcher
from graph_bandit_campaign.results.rows import BadResultsError, Columns, MeasuredRow, ResultTables
from graph_bandit_env import GraphPool, MoleculeSet

OtherValue: TypeAlias = float | str
"""A result of another assay: a number, or a bound such as ">4.5"."""


@dataclass(frozen=True)
class OtherTable:
    """The rows of another assay, as they stand in its table."""

    name: str
    """Name of the assay: that of its column."""
    path: Path
    """The table."""
    rows: Sequence[MeasuredRow]
    """Rows with a number or a bound."""
    remarks: Sequence[str] = ()
    """Remarks about the table, for people."""


@dataclass(frozen=True)
class OtherAssays:
    """Results of other assays, which teach, and whose molecules are never asked for."""

    values: Mapping[str, Mapping[str, Sequence[OtherValue]]] = field(default_factory=dict)
    """The mean of the values of each molecule and bounds, by its SMILES, for each assay; of other graphs by id."""
    remarks: Sequence[str] = ()
    """Remarks about the tables, for people."""

    @property
    def content(self) -> list[object]:
        """Return what a question is recognised by; nothing without other assays."""
        return [["also", name, sorted(values.items())] for name, values in self.values.items()]


def read_other_tables(texts: Sequence[str], identifier: str | None, smiles: str) -> list[OtherTable]:
    """Read the tables of `--also`.

    Rows that say `failed` or `pending` count as empty. Two classes are bounds on either side of 0.

    Args:
        texts: tables as on the command line, `FILE` or `FILE:COLUMN`.
        identifier: column of the names; None: `id`.
        smiles: column of the SMILES.

    Raises:
        ValueError, OSError, ImportError: if a table cannot be read, has no such column or several, or a row cannot be
            understood.
    """
    read = list[OtherTable]()
    for text in texts:
        path, column = split_name(text)
        tables = ResultTables.open([path])
        column = column or _only_column(tables, path, identifier, smiles)
        table, classes = classes_as_bounds(tables.tables[0], column)
        told = ResultTables([table]).read(Columns(column, identifier, smiles))
        name = column if column not in {other.name for other in read} else f"{path.stem} {column}"
        if name in {other.name for other in read}:
            raise ValueError(f"Expected each column of a table once for `--also`. Got {text} again.")
        rows = [row for row in told.rows if isinstance(row.value, float)]
        read.append(OtherTable(name, path, rows, [*[classes] * bool(classes), *told.remarks]))
    return read


def match_other_tables(tables: Sequence[OtherTable], pool: GraphPool, most_atoms: int) -> OtherAssays:
    """Find the molecules or graphs of the rows of other assays.

    A row that has a SMILES is the molecule of that SMILES, whatever its id, which may be one of another project. Other
    graphs are found by their ids.

    Args:
        tables: the tables.
        pool: what there is to choose from.
        most_atoms: how many atoms a molecule may have, without hydrogens.

    Raises:
        ValueError: if a row is of no molecule or graph, or all rows tell the same.
    """
    values, remarks = dict[str, dict[str, list[OtherValue]]](), list[str]()
    known = {*pool.smiles} if isinstance(pool, MoleculeSet) else {*pool.ids}
    noun = "molecules" if isinstance(pool, MoleculeSet) else "graphs"
    for table in tables:
        told = _results_of(table.rows, pool, most_atoms)
        texts = {value[0] if isinstance(value, str) else value for results in told.values() for value in results}
        if len(texts) < 2:
            raise ValueError(
                f"Expected two results that differ in `{table.name}` of {table.path}: values, or bounds on either "
                "side. Got none. Leave it out."
            )
        values[table.name] = told
        bounds = sum(any(isinstance(value, str) for value in results) for results in told.values())
        places = f"{len(told.keys() & known)} of them in the pool" + f", {bounds} by bounds" * bool(bounds)
        remarks.append(f"{len(told)} {noun} of {table.path.name} teach by `{table.name}`, {places}")
        remarks += table.remarks
    return OtherAssays(values, remarks)


def _only_column(tables: ResultTables, path: Path, identifier: str | None, smiles: str) -> str:
    (header,) = tables.headers
    naming = {
        find_column(name or usual, header, str(path)) or find_column(usual, header, str(path))
        for name, usual in ((identifier, "id"), (smiles, "smiles"))
    }
    others = [name for name in header if name and name not in naming]
    if len(others) != 1:
        raise ValueError(
            f"Expected `--also FILE:COLUMN`, since {path} has other columns than one of values. It has "
            f"{', '.join(others) or 'none but names'}."
        )
    return others[0]


def _results_of(rows: Sequence[MeasuredRow], pool: GraphPool, most_atoms: int) -> dict[str, list[OtherValue]]:
    """Return the mean value of each molecule and its bounds, by its SMILES as the pool has it; of graphs by id."""
    matcher: Matcher | IdMatcher = IdMatcher(pool.ids)
    name_of = dict(zip(pool.ids, pool.ids, strict=True))
    if isinstance(pool, MoleculeSet):
        matcher = Matcher(pool, {}, False, most_atoms)
        name_of = dict(zip(pool.ids, pool.smiles, strict=True))
        rows = [replace(row, identifier="") if row.smiles else row for row in rows]
    values, bounds, problems = dict[str, list[float]](), dict[str, set[str]](), list[str]()
    for row in rows:
        try:
            found = matcher.find(row).identifier
        except ValueError as error:
            problems.append(f"{row.where}: {error}")
            continue
        name = name_of.get(found) or matcher.outside[found]
        if row.bound:
            bounds.setdefault(name, set()).add(f"{'>' if row.side == 'above' else '<'}{float(row.value)!r}")
        else:
            values.setdefault(name, []).append(float(row.value))
    if problems:
        raise BadResultsError(problems)
    every = {**values, **bounds}
    means = {name: [sum(numbers) / len(numbers)] for name, numbers in values.items()}
    return {name: [*means.get(name, ()), *sorted(bounds.get(name, ()))] for name in every}
