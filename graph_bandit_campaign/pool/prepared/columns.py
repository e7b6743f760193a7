"""Columns of Parquet files: the traits of molecules as Arrow arrays, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agents.traits import NUMBERS, TRAITS, Traits
from graph_bandit_campaign.pool.prepared.manifest import OWN

if TYPE_CHECKING:
    import pyarrow as pa

KNOWN = ("file", "row", "id", "written", "smiles")
"""Columns of every part: number of the file of the table, row as people count, id (null where the table has none),
SMILES as the table has it, and canonical SMILES."""
ENTRIES = ("bins", "counts")


def columns_of(trait: str) -> tuple[str, ...]:
    """Return the columns of a trait."""
    return (trait,) if trait in NUMBERS else tuple(f"{trait}_{entry}" for entry in ENTRIES)


def to_arrow(traits: Traits) -> dict[str, pa.Array]:
    """Return the traits of K molecules as columns of K rows."""
    import pyarrow as pa

    arrays, columns = traits.arrays(), {}
    for name in traits.names:
        if name in NUMBERS:
            numbers = pa.array(arrays[name].ravel(), pa.float32())
            columns[name] = pa.FixedSizeListArray.from_arrays(numbers, arrays[name].shape[1])
            continue
        offsets = pa.array(arrays[f"{name}.offsets"].astype(np.int32))
        for entry, column in zip(ENTRIES, columns_of(name), strict=True):
            columns[column] = pa.ListArray.from_arrays(offsets, pa.array(arrays[f"{name}.{entry}"], pa.uint16()))
    return columns


def from_arrow(table: pa.Table, names: Sequence[str], stereo: bool, left_out: Sequence[str]) -> Traits:
    """Return the traits of the rows of a table, as copies: a view would keep the whole table in memory.

    Args:
        table: has their columns.
        names: names of traits.
        stereo: as in `Traits`.
        left_out: traits that the pool was prepared without.

    Raises:
        ValueError: if the columns cannot be traits.
    """
    if not names:
        return Traits(len(table), {}, {}, stereo, tuple(left_out))
    arrays: dict[str, NDArray[np.generic]] = {}
    for name in names:
        if name in NUMBERS:
            column = _whole(table[name])
            arrays[name] = column.flatten().to_numpy().reshape(len(table), column.type.list_size).copy()
            continue
        for entry, column_name in zip(ENTRIES, columns_of(name), strict=True):
            column = _whole(table[column_name])
            offsets = column.offsets.to_numpy().astype(np.int64)
            arrays[f"{name}.{entry}"] = column.values.to_numpy()[offsets[0] : offsets[-1]].copy()
            arrays[f"{name}.offsets"] = offsets - offsets[0]
    return Traits.from_arrays(arrays, stereo, left_out)


def traits_left_out(names: Sequence[str]) -> tuple[str, ...]:
    """Return all other traits."""
    return tuple(name for name in TRAITS if name not in names)


def own(name: str) -> str:
    """Return the column of a part that holds a column of the table."""
    return f"{OWN}{name}"


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
