"""Sets of molecules from tables and lists of SMILES."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.pools.molecule_graph import Features, count_columns, to_one_hot
from graph_bandit_env.pools.molecule_parser import ParsedMolecules, parse
from graph_bandit_env.pools.molecule_rows import BadRowsError, Row, read_rows
from graph_bandit_env.pools.molecule_set import MoleculeSet


def from_smiles_csv(
    path: str | Path,
    smiles: str = "smiles",
    target: str | None = None,
    identifier: str | None = None,
    features: Features = "one_hot",
    on_error: Literal["raise", "skip"] = "raise",
    cache: bool = True,
    workers: int = 1,
) -> MoleculeSet:
    """Read the molecules of a table.

    Args:
        path: `.csv`, `.tsv`, `.smi` (each also `.gz`) or `.parquet`.
        smiles: column of the SMILES.
        target: column of measured values; empty cells are not measured.
        identifier: column of names; without one, molecules are named by their canonical SMILES.
        features: "one_hot" columns, or PyG's integer "categories" (as float32), for modules that embed them.
        on_error: "raise" at rows that are no molecules, or "skip" them; `skipped` tells which.
        cache: keep what is read in a hidden file beside the table.
        workers: processes that read; with more than one, the script needs the guard `if __name__ == "__main__":`.

    Returns:
        The molecules, in the order of their first rows.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if RDKit is not installed (the extra `chem` brings it).
        BadRowsError: a ValueError, with the line of each row that is no molecule.
        ValueError: if the kind of the file or a column is not known, no molecule is left, or two different molecules
            have one identifier.
    """
    path = Path(path)
    if on_error not in ("raise", "skip"):
        raise ValueError(f'Expected `on_error` to be "raise" or "skip". Got {on_error!r}.')
    rows, problems = read_rows(path, smiles, identifier, target)
    return _assemble(rows, problems, features, on_error, path, path if cache else None, workers)


def from_smiles(
    smiles: Sequence[str],
    targets: Sequence[float] | None = None,
    features: Features = "one_hot",
    on_error: Literal["raise", "skip"] = "raise",
    ids: Sequence[str] | None = None,
) -> MoleculeSet:
    """Make a set of molecules from SMILES; arguments and errors are those of `from_smiles_csv`, lines count from 1."""
    if ids is not None and len(ids) != len(smiles):
        raise ValueError(f"Expected an identifier for each of {len(smiles)} molecules. Got {len(ids)}.")
    values = [math.nan] * len(smiles) if targets is None else [float(value) for value in targets]
    if len(values) != len(smiles):
        raise ValueError(f"Expected a target for each of {len(smiles)} molecules. Got {len(values)}.")
    rows = [
        Row(line, text, None if ids is None else ids[line - 1], None if math.isnan(value) else value)
        for line, (text, value) in enumerate(zip(smiles, values, strict=True), start=1)
    ]
    return _assemble(rows, [], features, on_error, Path("the list"), None, 1)


def _assemble(
    rows: list[Row],
    problems: list[tuple[int, str]],
    features: Features,
    on_error: str,
    path: Path,
    cache: Path | None,
    workers: int,
) -> MoleculeSet:
    count_columns(features)  # which refuses an unknown name
    parsed = parse([row.smiles for row in rows], workers, cache) if rows else None
    texts = parsed.canonical if parsed is not None else ()
    for row, canonical in zip(rows, texts, strict=True):
        if not canonical:
            problems.append((row.line, f"RDKit reads no molecule from {row.smiles!r}."))
    problems.sort()
    if problems and on_error == "raise":
        raise BadRowsError(path, problems)
    first: dict[str, int] = {}
    values: dict[str, list[float]] = {}
    for place, (row, canonical) in enumerate(zip(rows, texts, strict=True)):
        if canonical:
            first.setdefault(canonical, place)
            values.setdefault(canonical, []).extend([] if row.target is None else [row.target])
    if parsed is None or not first:
        raise ValueError(f"Expected at least one molecule in {path}. Got none ({len(problems)} bad rows).")
    lines = [rows[place].line for place in first.values()]
    ids = [rows[place].identifier or canonical for canonical, place in first.items()]
    _refuse_equal_identifiers(ids, lines)
    place_of = {canonical: place for place, canonical in enumerate(first)}
    return MoleculeSet(
        _to_graphs(parsed, list(first.values()), features),
        tuple(first),
        ids,
        [float(np.mean(known)) if known else math.nan for known in values.values()],
        features,
        problems,
        merged=sum(map(bool, texts)) - len(first),
        aliases={
            row.identifier: ids[place_of[canonical]]
            for row, canonical in zip(rows, texts, strict=True)
            if canonical and row.identifier and row.identifier != ids[place_of[canonical]]
        },
    )


def _to_graphs(parsed: ParsedMolecules, places: list[int], features: Features) -> GraphSet:
    """Cut the molecules at some places out of the long arrays."""
    atoms: Any = to_one_hot(parsed.atoms.astype(np.int64), "atom") if features == "one_hot" else parsed.atoms
    bonds: Any = to_one_hot(parsed.bonds.astype(np.int64), "bond") if features == "one_hot" else parsed.bonds
    atom_spans = [slice(*parsed.atom_offsets[place : place + 2]) for place in places]
    bond_spans = [slice(*parsed.bond_offsets[place : place + 2]) for place in places]
    return GraphSet.from_symmetric(
        [atoms[span].astype(np.float32) for span in atom_spans],
        [parsed.links[span].copy() for span in bond_spans],
        [bonds[span].astype(np.float32) for span in bond_spans],
    )


def _refuse_equal_identifiers(ids: list[str], lines: list[int]) -> None:
    seen: dict[str, int] = {}
    for identifier, line in zip(ids, lines, strict=True):
        if identifier in seen:
            raise ValueError(
                f"Expected one molecule for each identifier. Lines {seen[identifier]} and {line} are different "
                f"molecules, both `{identifier}`."
            )
        seen[identifier] = line
