"""Read embeddings of molecules, such as pretrained fingerprints, and add them to molecules as columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.extras import require
from graph_bandit_env.pools.molecule_parser import canonical_smiles
from graph_bandit_env.pools.molecule_rows import check_columns, check_known
from graph_bandit_env.pools.molecule_set import MoleculeSet
from graph_bandit_env.storage import unpacked_size
from graph_bandit_env.tables.damage import check_unpacked, refuse_damage
from graph_bandit_env.tables.parquet import check_size, open_file, size_of_texts
from graph_bandit_env.tables.table import to_text

IDS, VALUES = "ids", "values"  # arrays of a .npz file
ID = "id"  # the usual name of the identifiers in a .parquet file
Contents: TypeAlias = tuple[list[str], list[str], NDArray[np.float64], tuple[str, ...]]
"""Identifiers, names of columns, values, and names of columns that are not read."""
INDEX = re.compile(r"__index_level_\d+__")  # the row labels that pandas writes, often mere numbers


@dataclass(frozen=True, eq=False, repr=False)
class Embeddings:
    """A vector of numbers for each of n molecules."""

    source: str
    """Name of the file."""
    ids: tuple[str, ...]
    """n identifiers or SMILES, all different."""
    names: tuple[str, ...]
    """c names of columns; each begins with the name of the file."""
    values: NDArray[np.float64]
    """`(n, c)`, read-only; NaN where a number is not known."""
    left_out: tuple[str, ...] = ()
    """Names of columns that are not read: further ones of text, and row numbers of pandas."""

    def __repr__(self) -> str:
        return f"Embeddings({self.source}, {len(self.ids)} rows of {len(self.names)} numbers)"

    def add_to(self, molecules: MoleculeSet) -> MoleculeSet:
        """Return the same molecules with these columns added, NaN for molecules that have no vector here.

        A molecule has the vector of its identifier; else that of a further identifier in `aliases`; else that of its
        canonical SMILES; else that of its SMILES in another form.

        Args:
            molecules: K molecules without these columns.

        Raises:
            ValueError: if no molecule has a vector, two vectors have SMILES of one molecule in other forms, or the
                molecules have columns of these names.
            ImportError: if RDKit is not installed, and SMILES need to be compared.
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
        """Return the index of the vector of each molecule, `(K,)`; -1 where there is none."""
        row_of = {identifier: row for row, identifier in enumerate(self.ids)}
        further = {name: row_of[alias] for alias, name in molecules.aliases.items() if alias in row_of}
        rows = [row_of.get(name, further.get(name, -1)) for name in molecules.ids]
        for name in (*molecules.ids, *molecules.aliases):
            row_of.pop(name, None)  # what is left may be SMILES
        rows = [row_of.get(text, -1) if row < 0 else row for row, text in zip(rows, molecules.smiles, strict=True)]
        missing = {text: k for k, (row, text) in enumerate(zip(rows, molecules.smiles, strict=True)) if row < 0}
        for identifier, row in row_of.items() if missing else ():
            text = canonical_smiles(identifier)
            standard = molecules.standard_smiles(text)
            k = missing.get(standard)
            if k is not None and rows[k] >= 0 and standard != text:
                continue  # another form of a molecule whose first one counts
            if k is not None and rows[k] >= 0:
                raise ValueError(
                    f"Expected one row for each molecule in {self.source}. `{self.ids[rows[k]]}` and `{identifier}` "
                    "are the same molecule. Remove one of them."
                )
            if k is not None:
                rows[k] = row
        return np.array(rows, np.int64)


def read_embeddings(path: str | Path) -> Embeddings:
    """Read a file with a vector of numbers for each molecule.

    Args:
        path: a `.npz` file with the arrays `ids` (n texts or integers) and `values` (n rows of c numbers); or a
            `.parquet` file with a column of identifiers (`id`, else the first column of text) and columns of numbers.
            Further columns of text are left out. Identifiers may be SMILES.

    Returns:
        The vectors. `read_embeddings(path).add_to(molecules)` makes columns of them.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if pyarrow is needed and not installed (the extra `parquet`).
        ValueError: if the file is of another kind, damaged, lacks identifiers or numbers, has an identifier twice, or
            has an infinite number.
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
    first: dict[str, int] = {}
    for row, identifier in enumerate(ids, start=1):
        if not identifier:
            raise ValueError(f"Expected an identifier in each row of {path}. Row {row} has none.")
        if first.setdefault(identifier, row) != row:
            raise ValueError(
                f"Expected identifiers in {path} that are all different. Rows {first[identifier]} and {row} are both "
                f"`{identifier}`."
            )
    try:
        checked, columns = check_columns(values, names, ids)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error
    check_known(checked, columns, str(path))
    return Embeddings(path.name, tuple(ids), tuple(f"{path.name}:{name}" for name in columns), checked, left_out)


def _read_arrays(path: Path) -> Contents:
    with refuse_damage(path), ZipFile(path) as archive:
        check_unpacked(path, unpacked_size(archive), "with numpy.savez")
        held = sorted(part.filename.removesuffix(".npy") for part in archive.infolist())
    if not {IDS, VALUES} <= set(held):
        raise ValueError(f"Expected the arrays `{IDS}` and `{VALUES}` in {path}. It has {', '.join(held) or 'none'}.")
    arrays = {}
    for name in (IDS, VALUES):
        try:
            with refuse_damage(path), np.load(path, allow_pickle=False) as file:
                arrays[name] = np.asarray(file[name])
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            kind = "str" if name == IDS else "float"
            raise ValueError(
                f"Expected `{name}` in {path} to be an array of one kind. Got Python objects, which are not read. Save "
                f"it as `numpy.array({name}, dtype={kind})`."
            ) from error
    ids, values = arrays[IDS], arrays[VALUES]
    if ids.ndim != 1 or ids.dtype.kind not in "USiu":
        raise ValueError(f"Expected `{IDS}` in {path} to be a list of texts. Got {ids.dtype} of shape `{ids.shape}`.")
    if values.dtype.kind not in "biuf" or values.ndim not in (1, 2) or len(values) != len(ids):
        raise ValueError(
            f"Expected `{VALUES}` in {path} to be numbers of shape `({len(ids)}, c)`, a row for each of `{IDS}`. Got "
            f"{values.dtype} of shape `{values.shape}`."
        )
    check_unpacked(path, ids.size + values.size, "with numpy.savez")  # texts may have no letters, and rows no numbers
    wide = values[:, None] if values.ndim == 1 else values
    with refuse_damage(path):
        texts = [to_text(value).strip() for value in ids.tolist()]
    return texts, [str(column) for column in range(wide.shape[1])], wide, ()


def _read_parquet(path: Path) -> Contents:
    require("pyarrow", f"Reading {path.name}")
    import pyarrow
    from pyarrow import types

    remedy = "without compression, or as .npz"
    with refuse_damage(path), path.open("rb") as content:
        file = open_file(path, content)
        schema = file.schema_arrow
        check_size(path, file, remedy)
        kinds = {
            field.name: field.type.value_type if types.is_dictionary(field.type) else field.type for field in schema
        }
        table = None if len(kinds) < len(schema) else file.read()
    if table is not None:
        check_unpacked(path, size_of_texts(part for column in table.columns for part in column.chunks), remedy)
    else:
        raise ValueError(f"Expected columns with different names in {path}. Rename those that are equal.")

    def is_text(name: str) -> bool:
        checks = (types.is_string, types.is_large_string, types.is_string_view, types.is_binary)
        return any(check(kinds[name]) for check in checks)

    def is_number(name: str) -> bool:
        checks = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
        return any(check(kinds[name]) for check in checks)

    identifier = ID if ID in kinds else next(filter(is_text, kinds), None)
    if identifier is None:
        raise ValueError(
            f"Expected a column `{ID}`, or another one of text, in {path}, to identify the molecules. It has "
            f"{_listed(list(kinds))}."
        )
    others = [name for name in kinds if name != identifier and not is_text(name) and not INDEX.fullmatch(name)]
    odd = [name for name in others if not is_number(name)]
    if odd:
        raise ValueError(
            f"Expected columns of numbers and of text in {path}. `{odd[0]}` is {kinds[odd[0]]}. Give each number a "
            "column of its own, or save `ids` and `values` in a .npz file."
        )
    with refuse_damage(path):
        ids = [to_text(value).strip() for value in table.column(identifier).to_pylist()]
        columns = [table.column(name).cast(pyarrow.float64(), safe=False).to_numpy() for name in others]
    values = np.stack(columns, axis=1) if columns else np.empty((len(ids), 0))
    return ids, others, values, tuple(name for name in kinds if name != identifier and name not in others)


def _listed(names: Sequence[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "none") + more
