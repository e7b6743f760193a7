"""Check and decode rows of the results file, which a disk may have damaged."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from graph_bandit_lab.episodes.findings import FINDINGS
from graph_bandit_lab.storage.encoding import from_archive, from_blob

Row = Mapping[str, Any]
"""A repetition of the results file: its columns, encoded or decoded."""
ARRAYS = ("actions", "rewards", "regret")
_READERS: dict[str, Callable[[Any], object]] = {
    **dict.fromkeys(("environment", "agent_settings", "versions"), json.loads),
    **dict.fromkeys(ARRAYS, from_blob),
    **dict.fromkeys(FINDINGS, lambda blob: None if blob is None else from_blob(blob)),
    "diagnostics": from_archive,
}


class DamagedResultsWarning(UserWarning):
    """Rows of a results file are not what was written. They are left out."""


def checksum(row: Mapping[str, object]) -> str:
    """Return a checksum of what a row holds, types included. NULL counts for nothing, so that columns can be added."""
    total = 0
    for name in sorted(row):
        value = row[name]
        if value is not None and name != "checksum":
            content = value if isinstance(value, bytes) else str(value).encode(errors="surrogateescape")
            total = zlib.crc32(content, zlib.crc32(f"{name} {type(value).__name__} {len(content)}".encode(), total))
    return f"{total:08x}"


def decode(row: Row, wanted: Iterable[str]) -> dict[str, Any] | None:
    """Decode columns that hold JSON or arrays.

    Args:
        row: all columns.
        wanted: names of those to return.

    Returns:
        The columns; None if the row is not what was written. Rows of versions before 0.3.0 have no checksum: they count
        as damaged only if they cannot be decoded.
    """
    if row.get("checksum") not in (None, checksum(row)):
        return None
    try:
        return {name: _READERS[name](row.get(name)) if name in _READERS else row[name] for name in wanted}
    except Exception:  # noqa: BLE001 - NumPy, zipfile and json raise all kinds of errors at damaged bytes
        return None


def last_findings(decoded: Row) -> dict[str, float]:
    """Return each of `FINDINGS` after the last round of a decoded row; `nan` if it is None, or the row not finished."""
    finished = decoded["status"] == "finished"
    return {f"final_{k}": math.nan if decoded[k] is None or not finished else float(decoded[k][-1]) for k in FINDINGS}


def is_sound(row: Row) -> bool:
    """Return whether a row is what was written. One with a checksum need not be decoded to find out."""
    return decode(row, () if row.get("checksum") else row) is not None


def name_of(row: Row) -> str:
    """Name a row as far as it can be read; a damaged label may hold any characters."""
    return f"{row['label']!a}, seed {row['seed']!a}"
