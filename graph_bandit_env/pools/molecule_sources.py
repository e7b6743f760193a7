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
from graph_bandit_env.pools.molecule_graph import Features, PackedMolecules, count_columns
from graph_bandit_env.pools.molecule_parser import (
    MOST_ATOMS,
    SHOWN,
    ParsedMolecules,
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
    read_rows,
)
from graph_bandit_env.pools.molecule_set import MoleculeSet
from graph_bandit_env.pools.parents import Salts
from graph_bandit_env.tables import Table, open_table
from graph_bandit_env.tables.entries import (
    EntryColumns,
    are_structures,
    differing_columns,
    is_part,
    refuse_differing,
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
    workers: int = 1,
    sheet: str | None = None,
    most_rows: int | None = None,
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
        smiles: column of the SMILES; the structures of an SDF file are in the column `smiles`.
        target: column of measured values; an empty cell means that nothing was measured.
        identifier: column of names; without one, molecules are named by their canonical SMILES.
        features: "one_hot" columns, or PyG's integer "categories" (as float32), for modules that embed them.
        on_error: "raise" an error if a row is bad, or "skip" the row and list it in `skipped`. All rows of an
            identifier that different molecules have are bad.
        workers: most processes to use for a large table; with more than one, the script needs the guard
            `if __name__ == "__main__":`.
        sheet: sheet of a workbook; None: the first.
        most_rows: how many rows there may be; None: any number.
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
            molecule is left, there are too many rows, or rows of one molecule differ in a column that is neither of
            `entry_columns` nor `ignore_columns`.
    """
    names = check_names(columns)
    if target in names:
        raise ValueError(f"Expected `columns` without the target, which an agent is to predict. Got `{target}`.")
    with nullcontext(path) if isinstance(path, Table) else open_table(path, sheet) as table:
        used = {smiles, identifier, target, *names} - {*entry_columns}
        others = [name for name in table.columns if name and name not in used and table.has_header]
        others += [name for name in entry_columns if name not in others]
        rows, problems = read_rows(table, smiles, identifier, target, most_rows, names, others)
    source = _Source(str(table.path), table.unit, names)
    entry = list(entry_columns)
    while True:
        entries = [row.as_entry(others, entry) for row in rows]
        made, kept, owners = _assemble(entries, [*problems], features, on_error, source, workers, most_atoms, salts)
        cells = {name: [row.texts[column] for row in kept] for column, name in enumerate(others)}
        differing = differing_columns(owners, {name: cells[name] for name in others if name not in entry})
        structures = [name for name in differing if is_part(name) and are_structures(cells[name])]
        if not structures:
            break
        entry += structures
    refuse_differing(differing, ignore_columns, str(table.path))
    if not entry:
        return made
    numbers = EntryColumns.of({name: cells[name] for name in entry})
    first = np.unique(owners, return_index=True)[1].tolist()
    return made.with_columns(numbers.names, numbers.numbers({name: [cells[name][k] for k in first] for name in entry}))


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
    smiles, ids = list(smiles), None if ids is None else list(ids)  # of pandas, `[0]` is what the index calls 0
    if ids is not None and len(ids) != len(smiles):
        raise ValueError(f"Expected an identifier for each of {len(smiles)} molecules. Got {len(ids)}.")
    values = [math.nan] * len(smiles) if targets is None else [float(value) for value in targets]
    if len(values) != len(smiles):
        raise ValueError(f"Expected a target for each of {len(smiles)} molecules. Got {len(values)}.")
    texts = [_text_of(entry) for entry in smiles]
    names, sides = _side_values(columns or {}, [text or "" for text in texts])
    wrong = "expected a SMILES or a Mol of RDKit. Got "
    problems = [(k + 1, f"{wrong}{smiles[k]!r}.") for k, text in enumerate(texts) if text is None]
    rows = [
        Row(line, text, None if ids is None else ids[line - 1], None if math.isnan(value) else value, side)
        for line, (text, value, side) in enumerate(zip(texts, values, sides, strict=True), start=1)
        if text is not None
    ]
    return _assemble(rows, problems, features, on_error, _Source("the list", "line", names), 1, most_atoms, salts)[0]


def _text_of(entry: object) -> str | None:
    """Return the SMILES of an entry of a list; None if it is neither a SMILES nor a molecule."""
    if isinstance(entry, str):
        return entry
    require("rdkit", "Reading molecules")
    from rdkit import Chem

    return Chem.MolToSmiles(entry) if isinstance(entry, Chem.Mol) else None


def _side_values(
    columns: Mapping[str, ArrayLike], smiles: Sequence[str]
) -> tuple[tuple[str, ...], list[tuple[float, ...]]]:
    """Return the names of columns, and their values row by row."""
    names, values = check_names(list(columns)), {name: np.asarray(given) for name, given in columns.items()}
    for name, given in values.items():
        if given.shape != (len(smiles),):
            raise ValueError(f"Expected {len(smiles)} numbers in column `{name}`. Got the shape `{given.shape}`.")
    checked = [check_columns(given[:, None], (name,), smiles)[0] for name, given in values.items()]
    return names, list(map(tuple, np.concatenate(checked, axis=1).tolist())) if checked else [()] * len(smiles)


@dataclass(frozen=True)
class _Source:
    """The source of rows, the word for one of them, and the names of the user's own columns."""

    name: str
    unit: str
    columns: tuple[str, ...] = ()


def _assemble(
    rows: list[Row],
    problems: list[tuple[int, str]],
    features: Features,
    on_error: OnError,
    source: _Source,
    workers: int,
    most_atoms: int,
    salts: Salts,
) -> tuple[MoleculeSet, list[Row], list[int]]:
    """Merge rows of the same molecule: the first row names it, and its numbers are the means over the rows.

    Returns:
        The molecules, the rows that are molecules, and the index of the molecule of each.
    """
    count_columns(features)  # refuses an unknown name
    check_choice("on_error", on_error, get_args(OnError))
    check_integer("most_atoms", most_atoms, 1)
    check_choice("salts", salts, get_args(Salts))
    too_big = {row.number: text for row in rows if (text := size_problem(row.smiles, most_atoms))}
    problems += too_big.items()
    rows = [row for row in rows if row.number not in too_big]
    parsed = parse([row.smiles for row in rows], workers, salts) if rows else None
    written = parsed.written if parsed is not None else ()
    rows = [
        row._replace(identifier=row.identifier or text) if text else row
        for row, text in zip(rows, written, strict=True)
    ]
    texts = list(parsed.canonical) if parsed is not None else []
    for index, text in _problems_of(rows, texts, source.unit, most_atoms).items():
        problems.append((rows[index].number, text))
        texts[index] = ""
    problems.sort()
    if problems and on_error == "raise":
        raise BadRowsError(source.name, source.unit, problems)
    first: dict[str, int] = {}
    values: dict[str, list[float]] = {}
    for index, (row, canonical) in enumerate(zip(rows, texts, strict=True)):
        if canonical:
            first.setdefault(canonical, index)
            values.setdefault(canonical, []).extend([] if row.target is None else [row.target])
    if parsed is None or not first:
        raise ValueError(f"Expected at least one molecule in {source.name}. Got none ({len(problems)} bad rows).")
    ids = [rows[index].identifier or canonical for canonical, index in first.items()]
    name_of = dict(zip(first, ids, strict=True))
    good, index_of = [k for k, canonical in enumerate(texts) if canonical], {text: k for k, text in enumerate(first)}
    given, owners = np.array([rows[k].columns for k in good], np.float64), [index_of[texts[k]] for k in good]
    columns = mean_of_known(given, np.array(owners), len(first))
    check_known(columns, source.columns, source.name)
    molecules = MoleculeSet(
        _to_graphs(parsed, list(first.values()), features),
        tuple(first),
        ids,
        [float(np.mean(numbers)) if numbers else math.nan for numbers in values.values()],
        features,
        problems,
        merged=sum(map(bool, texts)) - len(first),
        aliases={
            row.identifier: name_of[canonical]
            for row, canonical in zip(rows, texts, strict=True)
            if canonical and row.identifier and row.identifier != name_of[canonical]
        },
        columns=columns,
        column_names=source.columns,
        salts=salts,
        written={row.identifier or "": written[k] for k, row in enumerate(rows) if texts[k] and written[k]},
    )
    return molecules, [rows[k] for k in good], owners


def _problems_of(rows: Sequence[Row], texts: Sequence[str], unit: str, most_atoms: int) -> dict[int, str]:
    """Return the problems of rows by their index: not a molecule, or not the only one with its name."""
    named: dict[str, dict[str, int]] = {}  # the molecules of each name, and the row where each comes first
    for row, canonical in zip(rows, texts, strict=True):
        if canonical:
            named.setdefault(row.identifier or canonical, {}).setdefault(canonical, row.number)
    problems = {}
    for index, (row, canonical) in enumerate(zip(rows, texts, strict=True)):
        if not canonical:
            problems[index] = smiles_problem(row.smiles, most_atoms)
            continue
        name = row.identifier or canonical
        others = [number for text, number in named[name].items() if text != canonical]
        if others:
            problems[index] = f"`{name}` is another molecule in {unit} {others[0]}."
    return problems


def _to_graphs(parsed: ParsedMolecules, indices: list[int], features: Features) -> GraphSet:
    """Cut the molecules with these indices out of the shared arrays."""
    arrays = parsed.atoms, parsed.atom_offsets, parsed.links, parsed.bonds, parsed.bond_offsets
    packed = PackedMolecules(*arrays, features)
    return GraphSet.from_packed(packed if len(indices) == len(parsed) else packed.take(indices))
