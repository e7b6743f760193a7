"""Create sets of molecules from tables and lists of SMILES."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from graph_bandit_env.checks import check_choice, check_integer, check_names
from graph_bandit_env.extras import require
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.pools.molecule_parser import (
    MOST_ATOMS,
    parse,
    size_problem,
    smiles_problem,
)
from graph_bandit_env.pools.molecule_rows import (
    BadRowsError,
    Row,
    check_columns,
    check_known,
)
from graph_bandit_env.pools.molecule_set import MoleculeSet
from graph_bandit_env.pools.parents import Salts
from graph_bandit_env.tables import Table, describe_shared, find_naming, open_table
from graph_bandit_env.tables.entries import differing_columns, refuse_differing

if TYPE_CHECKING:
    from rdkit.Chem import Mol

OnError = Literal["raise", "skip"]


def from_smiles_csv(
    path: str | Path | Table,
    smiles: str = "smiles",
    target: str | None = None,
    identifier: str | None = None,
    on_error: OnError = "raise",
    sheet: str | None = None,
    most_atoms: int = MOST_ATOMS,
    columns: Sequence[str] = (),
    salts: Salts = "merge",
    ignore_columns: Sequence[str] = (),
) -> MoleculeSet:
    """Read the molecules of a table.

    Args:
        path: an open table, or the path of a table for `graph_bandit_env.tables.open_table`: text, `.smi`, `.sdf`,
            `.xlsx` or `.parquet`.
        smiles: column of the SMILES. If it is missing, a column with a similar or another usual name is used, such as
            `SMILES` or `canonical_smiles`. The structures of an SDF file are in the column `smiles`.
        target: column of measured values, with empty cells for missing ones.
        identifier: column of names. If None, `id` or another usual name, such as `Compound ID` or `name`, and names
            shared by several molecules are ignored. The default name of a molecule is its canonical SMILES.
        on_error: "raise" an error if a row is bad, or "skip" the row and list it in `skipped`. If `identifier` is
            given, all rows with an identifier of several molecules are bad.
        sheet: sheet of a workbook. If None, the first.
        most_atoms: maximum number of atoms of a molecule, without hydrogens. Larger molecules are bad rows.
            Fingerprints of 500 atoms take seconds, of 1,000 half a minute.
        columns: names of your numeric columns, such as docking scores, to read as `MoleculeSet.columns`. Empty cells
            are missing values. Rows of one molecule are averaged over the available values.
        salts: "merge" describes salts and charged molecules by their parent, the only organic molecule beside
            counter-ions and water, without charges. Salts of one compound are then rows of one molecule. "separate"
            keeps each as a separate molecule. Solvates, mixtures and ionic liquids are always separate.
        ignore_columns: columns in which rows of one molecule may differ. Differences in other columns are an error,
            except for names, prices, stocks, suppliers, dates and comments. If the columns are part of the action,
            such as experimental conditions, use `read_actions`.

    Returns:
        The molecules, in the order of their first rows.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if RDKit, or the package that reads the file, is not installed (extras `chem` and `parquet`).
        BadRowsError: a ValueError, with the line of each row that is not a molecule, has text instead of a number, or
            has the identifier of another molecule.
        ValueError: if the file cannot be read, a column is missing, one of `columns` has no number or is the target, no
            molecule is left, or rows of one molecule differ in a column outside `ignore_columns`.
    """
    names = check_names("columns", columns)
    if target in names:
        raise ValueError(f"Expected `columns` without the target, which an agent is to predict. Got `{target}`.")
    with nullcontext(path) if isinstance(path, Table) else open_table(path, sheet) as table:
        naming = find_naming(table, smiles, identifier, {target or "", *names})
        smiles, named = naming.smiles or smiles, naming.identifier or identifier
        used = {smiles, named, target, *names}
        others = [name for name in table.columns if name and name not in used and table.has_header]
        wanted = [smiles, *(name for name in (named, target) if name is not None), *names]
        rows, problems = list[Row](), table.problems
        for number, texts in table.rows(wanted, others):
            row = dict(zip((*wanted, *others), texts, strict=True))
            try:
                value, *sides = (
                    math.nan if name is None else table.side_value(row[name], name) for name in (target, *names)
                )
            except ValueError as error:
                problems.append((number, str(error)))
                continue
            cells = {name: row[name] for name in others}
            if row[smiles]:
                rows.append(Row(number, row[smiles], row.get(named or "", ""), value, tuple(sides), cells))
            else:
                problems.append((number, f"expected a SMILES in `{smiles}`. Got nothing."))
    options = (names, on_error, most_atoms, salts, identifier is None)
    made, kept, owners = _merge(str(table.path), table.unit, rows, problems, *options)
    differing = differing_columns(owners, {name: [row.cells[name] for row in kept] for name in others})
    refuse_differing(differing, ignore_columns, str(table.path))
    made.remarks = (*naming.remarks, *made.remarks)
    return made


def from_smiles(
    smiles: Sequence[str | Mol],
    targets: Sequence[float] | None = None,
    on_error: OnError = "raise",
    ids: Sequence[str] | None = None,
    most_atoms: int = MOST_ATOMS,
    columns: Mapping[str, ArrayLike] | None = None,
    salts: Salts = "merge",
) -> MoleculeSet:
    """Create a set of molecules from SMILES, with the arguments and errors of `from_smiles_csv`.

    An entry may also be an RDKit `Mol`. Other entries, such as NaN or None for an unreadable molecule, are bad rows,
    numbered from 1. `columns` maps each name to a number for each entry, NaN if missing.
    """
    if isinstance(smiles, str):
        raise TypeError(f"Expected a list of SMILES. Got the text {smiles!r:.80}. Write it in brackets.")
    given = list(smiles)  # in pandas, `[0]` is the label 0 of the index
    texts = [_text_of(entry) for entry in given]
    wide = np.column_stack([*columns.values()]) if columns else None
    sides, names = check_columns(wide, [*(columns or {})], texts)
    values = [math.nan] * len(given) if targets is None else [float(value) for value in targets]
    every = zip(texts, [""] * len(given) if ids is None else ids, values, map(tuple, sides.tolist()), strict=True)
    rows = [Row(line, *row) for line, row in enumerate(every, start=1)]
    problems = [
        (row.number, f"expected a SMILES or a Mol of RDKit. Got {entry!r}.")
        for row, entry in zip(rows, given, strict=True)
        if not row.smiles
    ]
    return _merge("the list", "line", rows, problems, names, on_error, most_atoms, salts)[0]


def _text_of(entry: object) -> str:
    """Return the SMILES of an entry of a list, or an empty text if it is neither a SMILES nor a molecule."""
    if isinstance(entry, str):
        return entry
    require("rdkit", "Reading molecules")
    from rdkit import Chem

    return Chem.MolToSmiles(entry) if isinstance(entry, Chem.Mol) else ""


def _merge(
    source: str,
    unit: str,
    rows: Sequence[Row],
    problems: Iterable[tuple[int, str]],
    column_names: tuple[str, ...],
    on_error: OnError,
    most_atoms: int,
    salts: Salts,
    is_guessed: bool = False,
) -> tuple[MoleculeSet, list[Row], list[int]]:
    """Merge rows of the same molecule, with the name of the first row and the means of the numbers.

    Args:
        source: name of the source of the rows.
        unit: word for a row.
        rows: the rows.
        problems: number and problem of each row already known as bad.
        column_names: names of the user's columns.
        on_error: as in `from_smiles_csv`.
        most_atoms: as in `from_smiles_csv`.
        salts: as in `from_smiles_csv`.
        is_guessed: True if the column of names was detected. Names shared by several molecules are then ignored.

    Returns:
        The molecules, the valid rows, and the molecule index of each.
    """
    check_choice("on_error", on_error, get_args(OnError))
    check_choice("salts", salts, get_args(Salts))
    check_integer("most_atoms", most_atoms, 1)
    bad = dict(problems) | {row.number: text for row in rows if (text := size_problem(row.smiles, most_atoms))}
    rows = [row for row in rows if row.number not in bad]
    texts, written, graphs = parse([row.smiles for row in rows], salts)
    names, shared = [row.identifier or own for row, own in zip(rows, written, strict=True)], set[str]()
    while True:
        named: dict[str, dict[str, int]] = {}  # molecules of each name, with the first row of each
        for row, name, text in zip(rows, names, texts, strict=True):
            named.setdefault(name or text, {}).setdefault(text, row.number)
        more = {name for name, some in named.items() if len({*some} - {""}) > 1 and is_guessed}
        if not more:
            break
        names = [own if name in more else name for name, own in zip(names, written, strict=True)]
        shared |= more
    for row, name, text in zip(rows, names, texts, strict=True):
        others = [number for other, number in named[name or text].items() if other not in ("", text)]
        if not text:
            bad[row.number] = smiles_problem(row.smiles, most_atoms)
        elif others:
            bad[row.number] = f"`{name or text}` is another molecule in {unit} {others[0]}."
    if bad and on_error == "raise":
        raise BadRowsError(source, unit, sorted(bad.items()))
    good = [k for k, row in enumerate(rows) if row.number not in bad]
    if not good:
        raise ValueError(f"Expected at least one molecule in {source}. Got none ({len(bad)} bad rows).")
    index_of: dict[str, int] = {}
    owners = [index_of.setdefault(texts[k], len(index_of)) for k in good]
    first = [good[k] for k in np.unique(owners, return_index=True)[1]]
    ids = [names[k] or texts[k] for k in first]
    numbers = np.array([(rows[k].target, *rows[k].columns) for k in good], np.float64).T
    with np.errstate(invalid="ignore"):  # missing values give 0 / 0 = NaN
        targets, *columns = (
            np.bincount(owners, np.where(known, values, 0)) / np.bincount(owners, known)
            for values, known in zip(numbers, ~np.isnan(numbers), strict=True)
        )
    molecules = MoleculeSet(
        GraphSet.from_packed(graphs.take(first)),
        tuple(index_of),
        ids,
        targets,
        skipped=sorted(bad.items()),
        merged=len(good) - len(first),
        aliases={
            names[k]: ids[owner] for k, owner in zip(good, owners, strict=True) if names[k] not in ("", ids[owner])
        },
        columns=np.reshape(columns, (len(column_names), len(first))).T,
        column_names=column_names,
        salts=salts,
        written={names[k]: written[k] for k in good if written[k]},
    )
    check_known(molecules.columns, column_names, source)
    molecules.remarks = tuple(describe_shared(shared))
    return molecules, [rows[k] for k in good], owners
