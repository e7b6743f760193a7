"""Find the molecules or graphs of results of other assays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from graph_bandit_campaign.assays.tables import OtherTable
from graph_bandit_campaign.pool.index import structure_of
from graph_bandit_campaign.results.matching import IdMatcher, Matcher
from graph_bandit_campaign.results.rows import BadResultsError, MeasuredRow
from graph_bandit_env import GraphPool, MoleculeSet

MOST_BOUNDS = 1000  # of other assays, of which agents learn

OtherValue: TypeAlias = float | str
"""A result of another assay: a number, or a bound such as ">4.5"."""


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
        if len(texts) < 2 and not table.is_named:
            remarks.append(f"`{table.name}` of {table.path} left out, since its results do not differ")
            continue
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
    bounds = sum(isinstance(value, str) for told in values.values() for results in told.values() for value in results)
    if bounds > MOST_BOUNDS:
        remarks.append(f"{MOST_BOUNDS:,} of the {bounds:,} bounds of other assays count, evenly spaced among them")
    return OtherAssays(values, remarks)


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
            is_graph = not isinstance(pool, MoleculeSet) and row.smiles.startswith(f"{row.identifier}: ")
            if is_graph and structure_of(pool, pool.ids.index(found)) != row.smiles:
                raise ValueError(f"`{row.identifier}` is another graph in the pool.")
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
