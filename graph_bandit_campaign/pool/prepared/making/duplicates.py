"""Find equal molecules, and names that different molecules have, across parts: by digests, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.pool.prepared.making.work import MOLECULE, Records

IN_MEMORY = 1 << 20  # records of a bucket, about
MOST_BUCKETS = 256

DROP = np.dtype([("place", "<i8"), ("kept", "<i8"), ("alias", "?"), ("bad", "?"), ("file", "<i4"), ("row", "<i8")])
"""A row to leave out. Of a duplicate: the place of the molecule that it repeats, and whether its name is another one.
Of a bad row: file and row of the other molecule of its name."""


class Buckets:
    """Records of one kind in files, one file for each bucket.

    Args:
        folder: folder of the files, which exists.
        name: begins their names.
        kind: the kind of records.
        count: how many buckets there are.
    """

    def __init__(self, folder: Path, name: str, kind: np.dtype[np.void], count: int) -> None:
        self._paths, self._kind = [folder / f"{name}-{k}" for k in range(count)], kind

    def add(self, records: Records, buckets: NDArray[np.integer]) -> None:
        """Add records, each to its bucket, in their order."""
        order = np.argsort(buckets, kind="stable")
        ends = np.searchsorted(buckets[order], np.arange(len(self._paths) + 1))
        for k in np.flatnonzero(np.diff(ends)).tolist():
            with self._paths[k].open("ab") as file:
                file.write(records[order[ends[k] : ends[k + 1]]].tobytes())

    def read(self, bucket: int) -> Records:
        """Return the records of a bucket, once all have been added, and remove them."""
        if not self._paths[bucket].is_file():
            return np.zeros(0, self._kind)
        records = np.fromfile(self._paths[bucket], self._kind)
        self._paths[bucket].unlink()
        return records


def count_buckets(records: int) -> int:
    """Return in how many buckets to distribute a number of records."""
    return min(MOST_BUCKETS, max(1, -(-records // IN_MEMORY)))


def find_drops(
    parts: Iterable[Records],
    folder: Path,
    buckets: int,
    group_of: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    groups: int,
) -> Buckets:
    """Find the rows to leave out, by the rules of `from_smiles_csv`.

    All rows of a name that different molecules have are bad. Of the others, the first row of a molecule counts, and
    further ones are duplicates.

    Args:
        parts: `MOLECULE` records of each part, in the order of their places.
        folder: folder for files, which exists.
        buckets: in how many buckets to distribute them.
        group_of: tells from places in which bucket of the result each row goes.
        groups: how many buckets the result has.

    Returns:
        `DROP` records.
    """
    by_name = Buckets(folder, "names", MOLECULE, buckets)
    for records in parts:
        by_name.add(records, _bucket(records["name"], buckets))
    by_smiles, drops = Buckets(folder, "smiles", MOLECULE, buckets), Buckets(folder, "drops", DROP, groups)
    for bucket in range(buckets):
        records, bad = _split_names(by_name.read(bucket))
        drops.add(bad, group_of(bad["place"]))
        by_smiles.add(records, _bucket(records["smiles"], buckets))
    for bucket in range(buckets):
        repeated = _find_repeated(by_smiles.read(bucket))
        drops.add(repeated, group_of(repeated["place"]))
    return drops


def _split_names(records: Records) -> tuple[Records, Records]:
    """Return the records whose name is that of one molecule, and drops for the others."""
    records, first, group = _sort(records, "name")
    if not len(records):
        return records, np.zeros(0, DROP)
    differs = (records["smiles"] != records["smiles"][first][group]).any(axis=1)
    other = np.minimum.reduceat(np.where(differs, np.arange(len(records)), len(records)), first)
    bad = (other < len(records))[group]
    elsewhere = np.where(differs, first[group], other[group])[bad]  # the first row of another molecule of this name
    drops = np.zeros(int(bad.sum()), DROP)
    drops["place"], drops["bad"] = records["place"][bad], True
    drops["file"], drops["row"] = records["file"][elsewhere], records["row"][elsewhere]
    return records[~bad], drops


def _find_repeated(records: Records) -> Records:
    records, first, group = _sort(records, "smiles")
    kept, again = first[group], np.ones(len(records), np.bool_)
    again[first] = False
    drops = np.zeros(int(again.sum()), DROP)
    drops["place"], drops["kept"] = records["place"][again], records["place"][kept][again]
    renamed = records["named"] & (records["name"] != records["name"][kept]).any(axis=1)
    drops["alias"] = renamed[again]
    return drops


def _sort(records: Records, field: str) -> tuple[Records, NDArray[np.int64], NDArray[np.int64]]:
    """Sort by a digest, then by place; return where each group of equal ones begins, and the group of each record."""
    high, low = records[field].T
    records = records[np.lexsort((records["place"], low, high))]
    begins = np.ones(len(records), np.bool_)
    begins[1:] = (records[field][1:] != records[field][:-1]).any(axis=1)
    return records, np.flatnonzero(begins), np.cumsum(begins) - 1


def _bucket(digests: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    return (digests[:, 0] % np.uint64(count)).astype(np.int64)
