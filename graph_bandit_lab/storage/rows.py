"""Encode and decode rows of the results file, which somebody may have sent."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from platform import python_version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph_bandit_lab.design.keys import RunKey, to_json
from graph_bandit_lab.episodes.diagnostics import DIAGNOSTICS
from graph_bandit_lab.episodes.findings import FINDINGS

Row = Mapping[str, Any]
"""A repetition of the results file: its columns, encoded or decoded."""
ARRAYS = ("actions", "rewards", "regret")
STATUSES = ("finished", "diverged")  # of repetitions that have not failed
JSON = ("environment", "agent_settings", "versions")


def software_versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    names = ["graph-bandit-env", "torch", "torch-geometric", "numpy", "numba", "llvmlite", "gymnasium"]
    names += ["rdkit"] if find_spec("rdkit") else []  # by which molecules become graphs
    return {"python": python_version(), **{name: version(name) for name in names}}


def to_blob(array: NDArray[np.generic] | None) -> bytes | None:
    """Write an array as NumPy does to a file; None is NULL."""
    if array is None:
        return None
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def from_blob(blob: bytes) -> NDArray[Any]:
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


def from_diagnostics(blob: bytes | None) -> dict[str, NDArray[np.float64]]:
    """Read diagnostics, an array with a row for each; NULL and an array without rows are an empty dict."""
    array = () if blob is None else from_blob(blob)
    return dict(zip(DIAGNOSTICS, array, strict=True)) if len(array) else {}


READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(JSON, json.loads),
    **dict.fromkeys(ARRAYS, from_blob),
    **dict.fromkeys(FINDINGS, lambda blob: None if blob is None else from_blob(blob)),
    "diagnostics": from_diagnostics,
}


def decode(row: Row) -> dict[str, Any]:
    """Decode the columns that hold JSON or arrays.

    Raises:
        ValueError: if a column is not what this package writes.
    """
    try:
        return {name: READERS[name](value) if name in READERS else value for name, value in row.items()}
    except Exception as error:  # NumPy and json raise all kinds of errors at damaged bytes
        raise ValueError(f"{name_of(row)}, which cannot be read ({error})") from error


def is_ours(row: Row) -> bool:
    """Return whether a whole row is as this package writes one that has not failed: key, time and arrays."""
    try:
        decoded = decode(row)
        settings, environment = decoded["agent_settings"], decoded["environment"]
        key = RunKey(row["agent"], settings, environment, row["plug_in"], row["algorithm"])
        found = {name: decoded[name] for name in FINDINGS if decoded[name] is not None}
        arrays = {"rewards": decoded["rewards"], "regret": decoded["regret"], **found, **decoded["diagnostics"]}
        datetime.fromisoformat(row["created"])
    except Exception:  # noqa: BLE001 - of content that this package does not write
        return False
    texts = row["settings_hash"], row["environment"], row["agent_settings"], row["status"] in STATUSES
    rounds = decoded["actions"].shape
    return (
        texts == (key.settings_hash, key.environment_key, to_json(settings), True)
        and isinstance(decoded["versions"], dict)
        and (len(rounds), decoded["actions"].dtype) == (1, np.int64)
        and all((array.shape, array.dtype) == (rounds, np.float64) for array in arrays.values())
    )


def name_of(row: Row) -> str:
    """Name a row."""
    return f"{row['label']!a}, seed {row['seed']!a}"
