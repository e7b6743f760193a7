"""Encode and decode rows of the results file, which may come from an untrusted source."""

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
    names += ["rdkit"] if find_spec("rdkit") else []  # which converts molecules to graphs
    return {"python": python_version(), **{name: version(name) for name in names}}


def to_blob(array: NDArray[np.generic] | None) -> bytes | None:
    """Encode an array in NumPy's file format. None becomes NULL."""
    if array is None:
        return None
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def from_blob(blob: bytes) -> NDArray[Any]:
    """Decode an array encoded by `to_blob`."""
    begin = 10 + int.from_bytes(blob[8:10], "little")  # of the data in version 1.0 of the format
    dtype, shape = _read_header(blob[:begin])
    return np.frombuffer(blob, dtype, offset=begin).reshape(shape).copy()


@lru_cache(maxsize=256)
def _read_header(header: bytes) -> tuple[np.dtype[np.generic], tuple[int, ...]]:
    """Read the header of an array. It is cached, because NumPy compiles it, which takes longer than reading data."""
    file = io.BytesIO(header)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("Expected an array in version 1.0 of NumPy's format.")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    return dtype, shape


def from_diagnostics(blob: bytes | None) -> dict[str, NDArray[np.float64]]:
    """Decode diagnostics, an array with a row for each. NULL and an array without rows give an empty dict."""
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
        ValueError: if a column has a format that this package does not write.
    """
    try:
        return {name: READERS[name](value) if name in READERS else value for name, value in row.items()}
    except Exception as error:  # NumPy and json raise all kinds of errors at damaged bytes
        raise ValueError(f"{row['label']!a}, seed {row['seed']!a}, which cannot be read ({error})") from error


def check_row(row: Row) -> None:
    """Reject a row that cannot be read, or whose key differs from that of its settings.

    Raises:
        ValueError: if this package would not store such a row.
    """
    decoded = decode(row)
    key = RunKey(row["agent"], decoded["agent_settings"], decoded["environment"], row["plug_in"], row["algorithm"])
    if (key.settings_hash, key.environment_key) != (row["settings_hash"], row["environment"]):
        raise ValueError(f"{row['label']!a}, under another key than that of its settings.")
