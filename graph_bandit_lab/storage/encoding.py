"""Encode arrays for a database, and list the software versions that made them."""

from __future__ import annotations

import io
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from platform import python_version
from typing import Any, cast
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.storage import MOST_DEFLATED, unpacked_size


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
