"""Read results of other assays from tables, and find their molecules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from graph_bandit_campaign.names import find_column, split_name
from graph_bandit_campaign.results.matching import Matcher
from graph_bandit_campaign.results.rows import BadResultsError, Columns, MeasuredRow, ResultTables
from graph_bandit_env import MoleculeSet


@dataclass(frozen=True)
class OtherAssays:
    """Results of other assays, which teach, and whose molecules are never asked for."""

    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The mean of the values of each molecule, by its SMILES, for each assay."""
    remarks: Sequence[str] = ()
    """Remarks about the tables, for people."""

    @property
    def content(self) -> list[object]:
        """Return what a question is recognised by; nothing without other assays."""
        return [["also", name, sorted(values.items())] for name, values in self.values.items()]


def read_other_assays(
    texts: Sequence[str], pool: MoleculeSet, identifier: str | None, smiles: str, most_atoms: int
) -> OtherAssays:
    """Read the tables of `--also`.

    A row that has a SMILES is the molecule of that SMILES, whatever its id, which may be one of another project. Rows
    that say `failed` or `pending` count as empty.

    Args:
        texts: tables as on the command line, `FILE` or `FILE:COLUMN`.
        pool: the molecules to choose from.
        identifier: column of the names; None: `id`.
        smiles: column of the SMILES.
        most_atoms: how many atoms a molecule may have, without hydrogens.

    Raises:
        ValueError, OSError, ImportError: if a table cannot be read, has no such column or several, a row cannot be
            understood, or no value is left.
    """
    values, remarks = dict[str, dict[str, float]](), list[str]()
    for text in texts:
        path, column = split_name(text)
        tables = ResultTables.open([path])
        column = column or _only_column(tables, path, identifier, smiles)
        read = tables.read(Columns(column, identifier, smiles))
        exact = [row for row in read.rows if isinstance(row.value, float) and not row.bound]
        bounds = sum(1 for row in read.rows if row.bound)
        means = _means(exact, pool, most_atoms)
        name = column if column not in values else f"{path.stem} {column}"
        if name in values:
            raise ValueError(f"Expected each column of a table once for `--also`. Got {text} again.")
        if len({*means.values()}) < 2:
            raise ValueError(
                f"Expected two values that differ in `{column}` of {path}. Got none. Leave out --also {text}."
            )
        values[name] = means
        known = len(means.keys() & {*pool.smiles})
        remarks.append(f"{len(means)} molecules of {path.name} teach by `{name}`, {known} of them in the pool")
        remarks += [f"bounds in {path.name} left out, since another assay teaches by values alone: {bounds}"] * bool(
            bounds
        )
        remarks += read.remarks
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


def _means(rows: Sequence[MeasuredRow], pool: MoleculeSet, most_atoms: int) -> dict[str, float]:
    """Return the mean value of each molecule, by its SMILES as the pool has it."""
    matcher, every, problems = Matcher(pool, {}, False, most_atoms), dict[str, list[float]](), list[str]()
    smiles_of = dict(zip(pool.ids, pool.smiles, strict=True))
    for row in rows:
        try:
            name = matcher.find(replace(row, identifier="") if row.smiles else row).identifier
        except ValueError as error:
            problems.append(f"{row.where}: {error}")
            continue
        every.setdefault(smiles_of.get(name) or matcher.outside[name], []).append(float(row.value))
    if problems:
        raise BadResultsError(problems)
    return {text: sum(numbers) / len(numbers) for text, numbers in every.items()}
