"""Encode, check and decode rows of the results file, which a disk may have damaged, or somebody may have sent."""

from __future__ import annotations

import io
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from platform import python_version
from typing import Any, cast
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.storage import MOST_DEFLATED, unpacked_size
from graph_bandit_lab.design.keys import RunKey, to_json
from graph_bandit_lab.episodes.findings import FINDINGS

Row = Mapping[str, Any]
"""A repetition of the results file: its columns, encoded or decoded."""
ARRAYS = ("actions", "rewards", "regret")
STATUSES = ("finished", "diverged")  # of repetitions that have not failed
JSON = ("environment", "agent_settings", "versions")
TYPES: Mapping[str, type] = {
    **dict.fromkeys(("settings_hash", "label", "agent", "status", "error", "created", "checksum", *JSON), str),
    **dict.fromkeys(("wall_time", "round_time"), float),
    "seed": int,
}
"""Of columns that hold neither an array nor a dict of them."""


class DamagedResultsWarning(UserWarning):
    """Rows of a results file are not what was written. They are left out."""


def software_versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    names = ["graph-bandit-env", "torch", "torch-geometric", "numpy", "numba", "llvmlite", "gymnasium"]
    names += ["rdkit"] if find_spec("rdkit") else []  # by which molecules become graphs
    return {"python": python_version(), **{name: version(name) for name in names}}


def to_blob(array: NDArray[np.generic]) -> bytes:
    """Write an array as NumPy does to a file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def from_blob(blob: bytes) -> NDArray[np.generic]:
    """Read what `to_blob` wrote."""
    begin = 10 + int.from_bytes(blob[8:10], "little")  # of the data in version 1.0 of the format
    dtype, shape = _read_header(blob[:begin])
    return np.frombuffer(blob, dtype, offset=begin).reshape(shape).copy()


@lru_cache(maxsize=256)
def _read_header(header: bytes) -> tuple[np.dtype[np.generic], tuple[int, ...]]:
    """Read the header of an array. Those of a sweep are few, and NumPy compiles each: the data take less time."""
    file = io.BytesIO(header)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("Expected an array in version 1.0 of NumPy's format.")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    return dtype, shape


def to_archive(arrays: dict[str, NDArray[np.float64]]) -> bytes:
    """Write several arrays, compressed."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **cast(Any, arrays))  # the stubs take names of arrays for flags
    return buffer.getvalue()


def from_archive(blob: bytes | None) -> dict[str, NDArray[np.float64]]:
    """Read what `to_archive` wrote; NULL decodes to an empty dict."""
    if not isinstance(blob, bytes):  # pandas may make NaN of NULL
        return {}
    with ZipFile(io.BytesIO(blob)) as packed:
        if unpacked_size(packed) > MOST_DEFLATED * len(blob):
            raise BadZipFile("Expected files of an archive that do not overlap.")
    with np.load(io.BytesIO(blob), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if any(array.dtype.kind != "f" for array in arrays.values()):  # texts without letters may be any number of them
        raise ValueError("Expected arrays of numbers.")
    return arrays


_READERS: dict[str, Callable[[Any], object]] = {
    **dict.fromkeys(JSON, json.loads),
    **dict.fromkeys(ARRAYS, from_blob),
    **dict.fromkeys(FINDINGS, lambda blob: None if blob is None else from_blob(blob)),
    "diagnostics": from_archive,
}


def checksum(row: Row) -> str:
    """Return a checksum of what a row holds, types included."""
    total = 0
    for name in sorted(row.keys() - {"checksum"}):
        value = row[name]
        content = value if isinstance(value, bytes) else str(value).encode(errors="surrogateescape")
        total = zlib.crc32(content, zlib.crc32(f"{name} {type(value).__name__} {len(content)}".encode(), total))
    return f"{total:08x}"


def decode(row: Row, wanted: Iterable[str]) -> dict[str, Any] | None:
    """Decode columns that hold JSON or arrays.

    Args:
        row: all columns.
        wanted: names of those to return.

    Returns:
        The columns; None if the row is not what was written.
    """
    if not is_sound(row):
        return None
    try:
        return {name: _READERS[name](row[name]) if name in _READERS else row[name] for name in wanted}
    except Exception:  # noqa: BLE001 - NumPy, zipfile and json raise all kinds of errors at damaged bytes
        return None


def is_sound(row: Row) -> bool:
    """Return whether a row is what was written. It need not be decoded to find out."""
    return bool(row["checksum"] == checksum(row))


def find_fault(row: Row) -> str:
    """Say what is wrong with a row; nothing if it is one of this package, of a repetition that has not failed."""
    decoded = decode(row, row)
    if decoded is None:
        return f"{name_of(row)}, which is damaged"
    try:
        if wrong := [name for name, kind in TYPES.items() if type(row[name]) is not kind]:
            return f"{name_of(row)} with another type of {wrong[0]}"
        datetime.fromisoformat(row["created"])
        if not all(isinstance(decoded[name], dict) for name in JSON):
            raise TypeError("Expected objects of JSON.")
        origin = decoded["versions"].get("plug-in", ""), int(decoded["versions"].get("algorithm", 1))
        key = RunKey(row["agent"], decoded["agent_settings"], decoded["environment"], *origin)
        texts = row["settings_hash"], row["environment"], row["agent_settings"]
        if texts != (key.settings_hash, key.environment_key, to_json(key.agent_settings)):
            return f"{name_of(row)} under a key that is not that of its settings"
    except Exception:  # noqa: BLE001 - of content that this package does not write
        return f"settings of {name_of(row)} that cannot be read"
    if row["status"] not in STATUSES:
        return f"{name_of(row)} with the status {row['status']!r}"
    rounds, findings = decoded["actions"].shape, [name for name in FINDINGS if row[name] is not None]
    expected = {"actions": np.int64, **dict.fromkeys((*ARRAYS[1:], *findings), np.float64)}
    for name, dtype in expected.items():
        if len(rounds) != 1 or decoded[name].shape != rounds or decoded[name].dtype != dtype:
            return f"{name_of(row)} with {name} other than {np.dtype(dtype)} for each round"
    if any(array.ndim != 1 or array.dtype != np.float64 for array in decoded["diagnostics"].values()):
        return f"{name_of(row)} with diagnostics other than float64 for each round"
    return ""


def last_findings(decoded: Row) -> dict[str, float]:
    """Return each of `FINDINGS` after the last round of a decoded row; `nan` if it is None, or the row not finished."""
    finished = decoded["status"] == "finished"
    return {f"final_{k}": math.nan if decoded[k] is None or not finished else float(decoded[k][-1]) for k in FINDINGS}


def name_of(row: Row) -> str:
    """Name a row as far as it can be read; a damaged label may hold any characters."""
    return f"{row['label']!a}, seed {row['seed']!a}"
