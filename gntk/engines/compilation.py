"""Loops over NumPy arrays, compiled."""

from __future__ import annotations

from typing import Any

from numba import njit


def compile_loop(function: Any) -> Any:
    """Compile a loop at its first call, and keep the result on disk where a folder can be written.

    Of fastmath it takes what leaves NaN and infinity as they are. Loops that call each other stand in one file, for a
    compiled caller is cached with its callees.
    """
    options: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written, as in many containers
        return njit(**options)(function)
