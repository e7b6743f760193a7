"""Make sets of molecules from tables and lists of SMILES."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from graph_bandit_env.checks import check_choice, check_integer
from graph_bandit_env.extras import require
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.pools.molecule_graph import Features
from graph_bandit_env.pools.molecule_parser import (
    MOST_ATOMS,
    SHOWN,
    parse,
    size_problem,
    smiles_problem,
)
from graph_bandit_env.pools.molecule_rows import (
    BadRowsError,
    Row,
    check_columns,
    check_known,
    check_names,
    mean_of_known,
)
from graph_bandit_env.pools.molecule_set import MoleculeSet
from graph_bandit_env.pools.parents import Salts
from graph_bandit_env.tables import Table, describe_shared, find_naming, open_table
from graph_bandit_env.tables.entries import (
    EntryColumns,
    are_structures,
    differing_columns,
    is_part,
    refuse_differing,
    write_entry,
)

if TYPE_CHECKING:
    from rdkit.Chem import Mol

OnError = Literal["raise", "skip"]


def from_smiles_csv(
    path: str | Path | Table,
    smiles: str = "smiles",
    target: str | None = None,
    identifier: str | None = None,
    features: Features = "one_hot",
    on_error: OnError = "raise",
    sheet: str | None = None,
    most_atoms: int = MOST_ATOMS,
    columns: Sequence[str] = (),
    salts: Salts = "merge",
    entry_columns: Sequence[str] = (),
    ignore_columns: Sequence[str] = (),
) -> MoleculeSet:
    """Read the molecules of a table.

    Args:
        path: an open table, or the path of one that `graph_bandit_env.tables.open_table` opens: text, `.smi`, `.sdf`,
            `.xlsx` or `.parquet`.
        smiles: column of the SMILES; if there is none, one of a similar or another usual name, such as `SMILES` or
            `canonical_smiles`. The structures of an SDF file are in the column `smiles`.
        target: column of measured values; an empty cell means that nothing was measured.
        identifier: column of names. None: `id` or one of another usual name, such as `Compound ID` or `name`; a name
            that several molecules have is left out then. Molecules without a name have their canonical SMILES.
        features: "one_hot" columns, or PyG's integer "categories" (as float32), for modules that embed them.
        on_error: "raise" an error if a row is bad, or "skip" the row and list it in `skipped`. All rows of an
            identifier that different molecules have are bad, if its column was named.
        sheet: sheet of a workbook; None: the first.
        most_atoms: how many atoms a molecule may have, without hydrogens; above that its row is bad. Fingerprints of
            500 atoms take seconds, of 1,000 half a minute.
        columns: names of columns of numbers of your own, such as docking scores, to read as `MoleculeSet.columns`; an
            empty cell means that the value is not known. Rows of one molecule have the mean of what is known.
        salts: "merge": salts and charged molecules are described by their parent, the only organic molecule beside
            counter-ions and water, without charges; salts of one compound are rows of one molecule. "separate": each
            is a molecule of its own, as it is written. Solvates, mixtures and ionic liquids always are.
        entry_columns: columns that are part of what an entry is, such as conditions of an experiment: rows of one
            molecule that differ there are different entries. They are read as `MoleculeSet.columns`, words as columns
            of 0 and 1. A second column of structures that differs always is one.
        ignore_columns: columns in which rows of one molecule may differ; others are refused, but for those of names,
            prices, stocks, suppliers, dates and comments.

    Returns:
        The molecules, in the order of their first rows.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if RDKit, or the package that reads the file, is not installed (extras `chem` and `parquet`).
        BadRowsError: a ValueError, with the line of each row that is not a molecule, has text in the place of a
            number, or whose identifier another molecule has, too.
        ValueError: if the file cannot be read, a column is missing, one of `columns` has no number or is the target, no
            molecule is left, or rows of one molecule differ in a column that is neither of
            `entry_columns` nor `ignore_columns`.
    """
    names, is_guessed = check_names(columns), identifier is None
    if target in names:
        raise ValueError(f"Expected `columns` without the target, which an agent is to predict. Got `{target}`.")
    with nullcontext(path) if isinstance(path, Table) else open_table(path, sheet) as table:
        naming = find_naming(table, smiles, identifier, {target or "", *names, *entry_columns})
        smiles, identifier = naming.smiles or smiles, naming.identifier or identifier
        used = {smiles, identifier, target, *names} - {*entry_columns}
        others = [name for name in table.columns if name and name not in used and table.has_header]
        others += [name for name in entry_columns if name not in others]
        wanted = [smiles, *(name for name in (identifier, target) if name is not None), *names]
        rows, problems = list[Row](), table.problems
        for number, texts in table.rows(wanted, others):
            row = dict(zip((*wanted, *others), texts, strict=True))
            try:
                value = None if target is None else table.number(row[target], f" in `{target}`")
                sides = tuple(table.side_value(row[name], name) for name in names)
            except ValueError as error:
                problems.append((number, str(error)))
                continue
            if row[smiles]:
                name = None if identifier is None else row[identifier] or None
                rows.append(Row(number, row[smiles], name, value, sides, {name: row[name] for name in others}))
            else:
                problems.append((number, f"expected a SMILES in `{smiles}`. Got nothing."))
    merging = _Merging(str(table.path), table.unit, features, on_error, most_atoms, salts, names, is_guessed)
    entry = list(entry_columns)
    while True:
        texts = [write_entry(row.smiles, {name: row.cells[name] for name in entry}) for row in rows]
        of_entries = [row._replace(smiles=text) for row, text in zip(rows, texts, strict=True)]
        made, kept, owners = merging.merge(of_entries, problems)
        cells = {name: [row.cells[name] for row in kept] for name in others}
        differing = differing_columns(owners, {name: cells[name] for name in others if name not in entry})
        structures = [name for name in differing if is_part(name) and are_structures(cells[name])]
        if not structures:
            break
        entry += structures
    refuse_differing(differing, ignore_columns, str(table.path))
    remarks = (*naming.remarks, *made.remarks)
    if entry:
        numbers = EntryColumns.of({name: cells[name] for name in entry})
        first = np.unique(owners, return_index=True)[1].tolist()
        of_first = {name: [cells[name][k] for k in first] for name in entry}
        made = made.with_columns(numbers.names, numbers.numbers(of_first))
    made.remarks = remarks
    return made


def from_smiles(
    smiles: Sequence[str | Mol],
    targets: Sequence[float] | None = None,
    features: Features = "one_hot",
    on_error: OnError = "raise",
    ids: Sequence[str] | None = None,
    most_atoms: int = MOST_ATOMS,
    columns: Mapping[str, ArrayLike] | None = None,
    salts: Salts = "merge",
) -> MoleculeSet:
    """Make a set of molecules from SMILES, with the arguments and errors of `from_smiles_csv`; lines count from 1.

    An entry may be a `Mol` of RDKit. One that is neither, such as NaN or the None of what RDKit could not read, is a
    bad row. `columns` holds a number for each entry under each name, NaN where it is not known.
    """
    if isinstance(smiles, str):
        raise TypeError(f"Expected a list of SMILES. Got the text {SHOWN.repr(smiles)}. Write it in brackets.")
    given = list(smiles)  # of pandas, `[0]` is what the index calls 0
    texts = [_text_of(entry) for entry in given]
    names, wide = check_names([*(columns or {})]), np.column_stack([*columns.values()]) if columns else None
    sides = check_columns(wide, names, [text or "" for text in texts])[0].tolist()
    values = [math.nan] * len(given) if targets is None else [float(value) for value in targets]
    rows, problems = list[Row](), list[tuple[int, str]]()
    every = zip(texts, given, [None] * len(given) if ids is None else ids, values, sides, strict=True)
    for line, (text, entry, name, value, side) in enumerate(every, start=1):
        if text is None:
            problems.append((line, f"expected a SMILES or a Mol of RDKit. Got {entry!r}."))
        else:
            rows.append(Row(line, text, name, None if math.isnan(value) else value, tuple(side)))
    return _Merging("the list", "line", features, on_error, most_atoms, salts, names).merge(rows, problems)[0]


def _text_of(entry: object) -> str | None:
    """Return the SMILES of an entry of a list; None if it is neither a SMILES nor a molecule."""
    if isinstance(entry, str):
        return entry
    require("rdkit", "Reading molecules")
    from rdkit import Chem

    return Chem.MolToSmiles(entry) if isinstance(entry, Chem.Mol) else None


@dataclass(frozen=True)
class _Merging:
    """Rows of a source become different molecules."""

    name: str
    """Of the source."""
    unit: str
    """Word for a row of it."""
    features: Features
    on_error: OnError
    most_atoms: int
    salts: Salts
    columns: tuple[str, ...]
    """Names of the user's own columns."""
    is_guessed: bool = False
    """Whether nobody said that names are names: those that several molecules have are left out then."""

    def __post_init__(self) -> None:
        check_choice("features", self.features, get_args(Features))
        check_choice("on_error", self.on_error, get_args(OnError))
        check_integer("most_atoms", self.most_atoms, 1)
        check_choice("salts", self.salts, get_args(Salts))

    def merge(self, rows: list[Row], problems: Sequence[tuple[int, str]]) -> tuple[MoleculeSet, list[Row], list[int]]:
        """Merge rows of the same molecule: the first row names it, and its numbers are the means over the rows.

        Returns:
            The molecules, the rows that are molecules, and the index of the molecule of each.
        """
        too_big = {row.number: text for row in rows if (text := size_problem(row.smiles, self.most_atoms))}
        rows = [row for row in rows if row.number not in too_big]
        parsed = parse([row.smiles for row in rows], self.salts, self.features)
        texts, shared = list(parsed.canonical), set[str]()
        while self.is_guessed and (more := {name for name, some in _named(rows, texts).items() if len(some) > 1}):
            rows = [row._replace(identifier=None) if row.identifier in more else row for row in rows]
            shared |= more
        rows = [
            row._replace(identifier=row.identifier or text or None)
            for row, text in zip(rows, parsed.written, strict=True)
        ]
        found = self._problems_of(rows, texts)
        problems = sorted([*problems, *too_big.items(), *((rows[k].number, text) for k, text in found.items())])
        if problems and self.on_error == "raise":
            raise BadRowsError(self.name, self.unit, problems)
        good = [k for k, text in enumerate(texts) if text and k not in found]
        if not good:
            raise ValueError(f"Expected at least one molecule in {self.name}. Got none ({len(problems)} bad rows).")
        index_of: dict[str, int] = {}
        owners = [index_of.setdefault(texts[k], len(index_of)) for k in good]
        first = [good[k] for k in np.unique(owners, return_index=True)[1]]
        ids = [rows[k].identifier or texts[k] for k in first]
        columns = mean_of_known(np.array([rows[k].columns for k in good], np.float64), np.array(owners), len(first))
        check_known(columns, self.columns, self.name)
        values: list[list[float]] = [[] for _ in first]
        for k, owner in zip(good, owners, strict=True):
            values[owner] += [] if (value := rows[k].target) is None else [value]
        named = [(rows[k].identifier, ids[owner]) for k, owner in zip(good, owners, strict=True)]
        molecules = MoleculeSet(
            GraphSet.from_packed(parsed.graphs.take(first)),
            tuple(index_of),
            ids,
            [float(np.mean(numbers)) if numbers else math.nan for numbers in values],
            self.features,
            problems,
            merged=len(good) - len(first),
            aliases={name: kept for name, kept in named if name and name != kept},
            columns=columns,
            column_names=self.columns,
            salts=self.salts,
            written={rows[k].identifier or "": parsed.written[k] for k in good if parsed.written[k]},
        )
        molecules.remarks = tuple(describe_shared(shared))
        return molecules, [rows[k] for k in good], owners

    def _problems_of(self, rows: Sequence[Row], texts: Sequence[str]) -> dict[int, str]:
        """Return the problems of rows by their index: not a molecule, or not the only one with its name."""
        named, problems = _named(rows, texts), {}
        for index, (row, canonical) in enumerate(zip(rows, texts, strict=True)):
            if not canonical:
                problems[index] = smiles_problem(row.smiles, self.most_atoms)
                continue
            name = row.identifier or canonical
            others = [number for text, number in named[name].items() if text != canonical]
            if others:
                problems[index] = f"`{name}` is another molecule in {self.unit} {others[0]}."
        return problems


def _named(rows: Sequence[Row], texts: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the molecules of each name, and the row where each comes first."""
    named: dict[str, dict[str, int]] = {}
    for row, canonical in zip(rows, texts, strict=True):
        if canonical:
            named.setdefault(row.identifier or canonical, {}).setdefault(canonical, row.number)
    return named
