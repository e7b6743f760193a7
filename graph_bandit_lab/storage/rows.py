"""Encode and decode rows of the results file, which somebody may have sent."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from platform import python_version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph_bandit_lab.design.names import RunKey
from graph_bandit_lab.episodes.findings import DIAGNOSTICS, FINDINGS

Row = Mapping[str, Any]
"""A repetition of the results file: its columns, encoded or decoded."""
ARRAYS = ("actions", "rewards", "regret")
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
        raise ValueError(f"{row['label']!a}, seed {row['seed']!a}, which cannot be read ({error})") from error


def check_row(row: Row) -> None:
    """Refuse a row that cannot be read, or that stands under another key than that of its settings.

    Raises:
        ValueError: if this package would not store it so.
    """
    decoded = decode(row)
    key = RunKey(row["agent"], decoded["agent_settings"], decoded["environment"], row["plug_in"], row["algorithm"])
    if (key.settings_hash, key.environment_key) != (row["settings_hash"], row["environment"]):
        raise ValueError(f"{row['label']!a}, under another key than that of its settings.")
