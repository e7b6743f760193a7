"""Make sets of molecules from tables and lists of SMILES."""

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
        path: an open table, or the path of one that `graph_bandit_env.tables.open_table` opens: text, `.smi`, `.sdf`,
            `.xlsx` or `.parquet`.
        smiles: column of the SMILES; if there is none, one of a similar or another usual name, such as `SMILES` or
            `canonical_smiles`. The structures of an SDF file are in the column `smiles`.
        target: column of measured values; an empty cell means that nothing was measured.
        identifier: column of names. None: `id` or one of another usual name, such as `Compound ID` or `name`; a name
            that several molecules have is left out then. Molecules without a name have their canonical SMILES.
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
        ignore_columns: columns in which rows of one molecule may differ; others are refused, but for those of names,
            prices, stocks, suppliers, dates and comments. If they are part of what is chosen, such as conditions of an
            experiment, `read_actions` reads the table.

    Returns:
        The molecules, in the order of their first rows.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if RDKit, or the package that reads the file, is not installed (extras `chem` and `parquet`).
        BadRowsError: a ValueError, with the line of each row that is not a molecule, has text in the place of a
            number, or whose identifier another molecule has, too.
        ValueError: if the file cannot be read, a column is missing, one of `columns` has no number or is the target, no
            molecule is left, or rows of one molecule differ in a column that is none of `ignore_columns`.
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
    """Make a set of molecules from SMILES, with the arguments and errors of `from_smiles_csv`; lines count from 1.

    An entry may be a `Mol` of RDKit. One that is neither, such as NaN or the None of what RDKit could not read, is a
    bad row. `columns` holds a number for each entry under each name, NaN where it is not known.
    """
    if isinstance(smiles, str):
        raise TypeError(f"Expected a list of SMILES. Got the text {smiles!r:.80}. Write it in brackets.")
    given = list(smiles)  # of pandas, `[0]` is what the index calls 0
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
    """Return the SMILES of an entry of a list; an empty text if it is neither a SMILES nor a molecule."""
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
    """Merge rows of the same molecule: the first row names it, and its numbers are the means over the rows.

    Args:
        source: name of what the rows are from.
        unit: word for a row of it.
        rows: the rows.
        problems: number and problem of each row that is bad already.
        column_names: names of the user's own columns.
        on_error: as in `from_smiles_csv`.
        most_atoms: as in `from_smiles_csv`.
        salts: as in `from_smiles_csv`.
        is_guessed: whether nobody said that names are names: those that several molecules have are left out then.

    Returns:
        The molecules, the rows that are molecules, and the index of the molecule of each.
    """
    check_choice("on_error", on_error, get_args(OnError))
    check_choice("salts", salts, get_args(Salts))
    check_integer("most_atoms", most_atoms, 1)
    bad = dict(problems) | {row.number: text for row in rows if (text := size_problem(row.smiles, most_atoms))}
    rows = [row for row in rows if row.number not in bad]
    texts, written, graphs = parse([row.smiles for row in rows], salts)
    names, shared = [row.identifier or own for row, own in zip(rows, written, strict=True)], set[str]()
    while True:
        named: dict[str, dict[str, int]] = {}  # the molecules of each name, and the row where each comes first
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
    with np.errstate(invalid="ignore"):  # where nothing is known, 0 / 0 is NaN
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
