"""Read embeddings of molecules, such as pretrained fingerprints, and add them to molecules as columns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.checks import check_names
from graph_bandit_env.extras import require
from graph_bandit_env.pools.molecule_parser import canonical_smiles
from graph_bandit_env.pools.molecule_rows import check_columns, check_known
from graph_bandit_env.pools.molecule_set import MoleculeSet
from graph_bandit_env.tables.damage import check_archive, check_unpacked, refuse_damage
from graph_bandit_env.tables.naming import find_naming
from graph_bandit_env.tables.parquet import check_size, open_file, size_of_texts
from graph_bandit_env.tables.table import Table, to_text

IDS, VALUES = "ids", "values"  # arrays of a .npz file
Contents: TypeAlias = tuple[list[str], list[str], NDArray[np.float64], tuple[str, ...]]
"""Identifiers, column names, values, and names of columns that are not read."""
INDEX = re.compile(r"__index_level_\d+__")  # row labels written by pandas, often numbers


@dataclass(frozen=True, eq=False)
class Embeddings:
    """A vector of numbers for each of n molecules."""

    source: str
    """Name of the file."""
    ids: tuple[str, ...] = field(repr=False)
    """n unique identifiers or SMILES."""
    names: tuple[str, ...] = field(repr=False)
    """c column names, each with the file name as prefix."""
    values: NDArray[np.float64] = field(repr=False)
    """`(n, c)`, read-only. NaN marks missing numbers."""
    left_out: tuple[str, ...] = ()
    """Names of columns that are not read: other text columns, and row numbers of pandas."""

    def add_to(self, molecules: MoleculeSet) -> MoleculeSet:
        """Return the molecules with these columns added, NaN for molecules without a vector.

        The vector of a molecule is matched by the first of these: its identifier, another identifier in `aliases`, its
        canonical SMILES, its SMILES in another form.

        Args:
            molecules: K molecules without these columns.

        Raises:
            ValueError: if no molecule has a vector, two vectors have SMILES of one molecule in other forms, or the
                molecules already have columns with these names.
            ImportError: if RDKit is not installed, and SMILES must be compared.
        """
        if repeated := set(self.names) & set(molecules.column_names):
            raise ValueError(
                f"Expected molecules without a column `{min(repeated)}`. They have one: were these embeddings added "
                "before, or those of another file of this name?"
            )
        rows = self._rows_of(molecules)
        if not (rows >= 0).any():
            raise ValueError(
                f"Expected {self.source} to have embeddings of these molecules. It has none: its first identifier is "
                f"`{self.ids[0]}`, that of the molecules `{molecules.ids[0]}`."
            )
        matched = np.where(rows[:, None] >= 0, self.values[rows], np.nan)
        return molecules.with_columns(self.names, matched)

    def _rows_of(self, molecules: MoleculeSet) -> NDArray[np.int64]:
        """Return the index of each molecule's vector, `(K,)`, or -1 for a molecule without one."""
        row_of = {identifier: row for row, identifier in enumerate(self.ids)}
        names = {**molecules.aliases, **{name: name for name in molecules.ids}}
        known = {name: row_of[alias] for alias, name in names.items() if alias in row_of}  # own identifiers come last
        missing = {text for name, text in zip(molecules.ids, molecules.smiles, strict=True) if name not in known}
        by_smiles, by_form = dict[str, int](), dict[str, int]()
        for identifier in [name for name in row_of if name not in names] if missing else ():  # they may be SMILES
            text, row = canonical_smiles(identifier), row_of[identifier]
            if by_smiles.setdefault(text, row) != row and text in missing:
                raise ValueError(
                    f"Expected one row for each molecule in {self.source}. `{self.ids[by_smiles[text]]}` and "
                    f"`{identifier}` are the same molecule. Remove one of them."
                )
            by_form.setdefault(molecules.standard_smiles(text), row)
        rows = [
            known.get(name, by_smiles.get(text, by_form.get(text, -1)))
            for name, text in zip(molecules.ids, molecules.smiles, strict=True)
        ]
        return np.array(rows, np.int64)


def read_embeddings(path: str | Path) -> Embeddings:
    """Read a file with a vector of numbers for each molecule.

    Args:
        path: a `.npz` file with the arrays `ids` (n texts or integers) and `values` (n rows of c numbers), or a
            `.parquet` file with a column of identifiers (`id`, another usual name, or the first text column) and
            numeric columns. Other text columns are skipped. Identifiers may be SMILES.

    Returns:
        The vectors. `read_embeddings(path).add_to(molecules)` adds them as columns.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if pyarrow is needed and not installed (the extra `parquet`).
        ValueError: if the file has another format, is damaged, lacks identifiers or numbers, or has a duplicate
            identifier or an infinite number.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if not path.is_file():
        raise FileNotFoundError(f"Expected a file of embeddings. Got {path}, which is not a file.")
    if kind not in (".npz", ".parquet"):
        raise ValueError(f"Expected embeddings in a file that ends in .npz or .parquet. Got {path.name}.")
    ids, names, values, left_out = _read_arrays(path) if kind == ".npz" else _read_parquet(path)
    if not values.size:
        raise ValueError(f"Expected embeddings in {path}. Got {values.shape[0]} rows of {values.shape[1]} numbers.")
    try:
        checked, columns = check_columns(values, names, check_names("identifiers", ids))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error
    check_known(checked, columns, str(path))
    return Embeddings(path.name, tuple(ids), tuple(f"{path.name}:{name}" for name in columns), checked, left_out)


def _read_arrays(path: Path) -> Contents:
    check_archive(path)
    with refuse_damage(path), np.load(path, allow_pickle=False) as file:  # arrays of Python objects are rejected
        ids, values = np.asarray(file[IDS]), np.asarray(file[VALUES])
    if ids.ndim != 1 or ids.dtype.kind not in "USiu" or values.ndim not in (1, 2) or len(values) != len(ids):
        raise ValueError(
            f"Expected n texts in `{IDS}` of {path}, and numbers of shape `(n, c)` in `{VALUES}`. Got {ids.dtype} of "
            f"shape `{ids.shape}` and {values.dtype} of shape `{values.shape}`."
        )
    check_unpacked(path, ids.size + values.size)  # texts and rows may be empty
    wide = values[:, None] if values.ndim == 1 else values
    with refuse_damage(path):
        texts = [to_text(value).strip() for value in ids.tolist()]
    return texts, [str(column) for column in range(wide.shape[1])], wide, ()


def _read_parquet(path: Path) -> Contents:
    require("pyarrow", f"Reading {path.name}")
    import pandas as pd

    with refuse_damage(path), path.open("rb") as content:
        file = open_file(path, content)
        check_size(path, file)
        table = file.read()
        check_unpacked(path, size_of_texts(part for column in table.columns for part in column.chunks))
        frame = table.replace_schema_metadata().to_pandas(coerce_temporal_nanoseconds=True)
        texts = [name for name in frame if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    identifier = find_naming(Table(path, tuple(frame), ())).identifier or next(iter(texts), None)
    if identifier is None:
        raise ValueError(f"Expected a column `id`, or another one of text, in {path}, to identify the molecules.")
    others = [name for name in frame if name not in (*texts, identifier) and not INDEX.fullmatch(name)]
    try:
        values = frame[others].astype(np.float64).to_numpy()
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Expected columns of numbers and of text in {path}. Got: {error}. Use one column for each number."
        ) from error
    ids = [to_text(value).strip() for value in frame[identifier].astype(object).where(frame[identifier].notna(), "")]
    return ids, others, values, tuple(name for name in frame if name not in (identifier, *others))
