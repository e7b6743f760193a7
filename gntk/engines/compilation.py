"""Loops over NumPy arrays, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

FASTMATH = ("reassoc", "contract", "nsz")  # which leaves NaN and infinity as they are


def compile_loop(function: Callable[..., object]) -> Any:
    """Compile a loop at its first call, and keep the result on disk where a folder can be written.

    Loops that call each other stand in one file, for a compiled caller is cached with its callees. They have no
    annotations, which is why the result is `Any`.
    """
    try:
        return njit(cache=True, fastmath={*FASTMATH}, error_model="numpy")(function)
    except RuntimeError:  # no folder can be written, as in many containers
        return njit(fastmath={*FASTMATH}, error_model="numpy")(function)
