"""Define the columns of a part of a prepared pool, and store descriptors in such columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.descriptors import FINGERPRINTS, Counts, Descriptors
from graph_bandit_campaign.pool.prepared.manifest import Question

if TYPE_CHECKING:
    import pyarrow as pa

KNOWN = ("row", "id", "written", "smiles", "problem")
"""Columns of every part: row number as users count, id (null if the table has none), SMILES as in the table, canonical
SMILES, and the problem of a bad row (null for a molecule)."""


def own(name: str) -> str:
    """Return the column of a part for a column of the table."""
    return f"column:{name}"


def columns_of(descriptor: str) -> tuple[str, ...]:
    """Return the columns of a descriptor."""
    return (f"{descriptor}_bins", f"{descriptor}_counts") if descriptor in FINGERPRINTS else (descriptor,)


def to_arrow(descriptors: Descriptors) -> dict[str, pa.Array]:
    """Return the descriptors of K molecules as columns of K rows."""
    import pyarrow as pa

    columns = {}
    for name, counts in descriptors.counts.items():
        offsets = pa.array(counts.offsets.astype(np.int32))
        for column, entries in zip(columns_of(name), (counts.bins, counts.counts), strict=True):
            columns[column] = pa.ListArray.from_arrays(offsets, pa.array(entries, pa.uint16()))
    for descriptor, numbers in descriptors.numbers.items():
        flat = pa.array(numbers.ravel(), pa.float32())
        columns[descriptor] = pa.FixedSizeListArray.from_arrays(flat, numbers.shape[1])
    return columns


def from_arrow(table: pa.Table, names: Sequence[str], question: Question) -> Descriptors:
    """Return the descriptors of the rows of a table as copies, since a view would keep the whole table in memory."""
    counts, numbers = dict[Any, Counts](), {}
    for name in names:
        columns = [table[column].combine_chunks() for column in columns_of(name)]
        if name not in FINGERPRINTS:
            numbers[name] = columns[0].flatten().to_numpy().reshape(len(table), -1).copy()
            continue
        offsets = columns[0].offsets.to_numpy().astype(np.int64)
        inside = slice(offsets[0], offsets[-1])
        entries = [column.values.to_numpy()[inside].copy() for column in columns]
        counts[name] = Counts(offsets - offsets[0], *entries)
    return Descriptors(len(table), counts, numbers, question.stereo, question.left_out)
